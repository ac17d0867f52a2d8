// Published beside measured: for each thread its shapes, and a chart and a table for each of its tables.
const charts = [];

// Ratios of one table: what a row gives relative to its reference, there and here.
function ratioChart(canvas, ratios) {
  const colors = palette();
  const grid = {color: style('--line')};
  const values = ratios.flatMap(({published, measured}) => [published, measured]).filter((value) => value > 0);
  const wide = values.length > 0 && Math.max(...values) / Math.min(...values) > 50;
  charts.push(new Chart(canvas, {
    type: 'bar',
    data: {
      labels: ratios.map(({labels}) => labels.join(', ')),
      datasets: [['published', colors[0]], ['measured', colors[1]]].map(([side, color]) => ({
        label: side, data: ratios.map((row) => row[side]), backgroundColor: color, maxBarThickness: 40})),
    },
    options: {
      responsive: true, maintainAspectRatio: false, animation: false,
      scales: {
        x: {grid, ticks: {color: style('--quiet'), maxRotation: 60}},
        y: {type: wide ? 'logarithmic' : 'linear', beginAtZero: true, grid,
          ticks: {color: style('--quiet'), callback: shortNumber}, title: axisTitle('ratio')},
      },
      plugins: {legend: {labels: {color: style('--ink')}}},
    },
  }));
}

function shapesTable({shapes}) {
  const body = element('tbody');
  for (const {id, claim, holds, measured, missing} of shapes) {
    const row = element('tr', {className: holds ? 'better' : 'worse'},
      element('td', {textContent: id}), element('td', {className: 'wrap', textContent: claim}),
      element('td', {className: 'verdict', textContent: holds ? 'holds' : 'does not hold'}),
      element('td', {className: 'wrap', textContent: measured}), element('td', {className: 'wrap', textContent: missing}));
    body.append(row);
  }
  const head = element('tr', {}, ...['shape', 'claim', 'verdict', 'measured', 'what is missing']
    .map((name) => element('th', {scope: 'col', textContent: name})));
  return element('div', {className: 'scroll'}, element('table', {className: 'shapes'}, element('thead', {}, head), body));
}

function numbersTable({headings, rows}) {
  const head = element('tr', {}, ...headings.map(({name, unit, is_number}) => element('th',
    {scope: 'col', className: is_number ? 'number' : ''}, name, element('span', {className: 'unit', textContent: unit}))));
  const body = element('tbody');
  for (const cells of rows) {
    body.append(element('tr', {}, ...cells.map((cell, place) => {
      if (cell === '') return element('td', {className: 'absent', textContent: '–', title: 'The thread has no such number'});
      return element('td', {className: headings[place].is_number ? 'number' : '', textContent: cell});
    })));
  }
  return element('div', {className: 'scroll'}, element('table', {}, element('thead', {}, head), body));
}

function draw() {
  charts.splice(0).forEach((chart) => chart.destroy());
  byId('threads').replaceChildren();
  for (const thread of report.threads) {
    const section = element('section', {},
      element('h2', {textContent: `${thread.name}: ${thread.title}`}),
      element('p', {className: 'quiet', textContent: `Published: ${thread.source}. Measured: ${thread.setting}.`}),
      shapesTable(thread), element('p', {className: 'quiet', textContent: report.agreement}));
    byId('threads').append(section);
    thread.tables.forEach((table, place) => {
      const canvas = element('canvas', {id: `${thread.name}-${place}`, role: 'img', ariaLabel: `Ratios of ${table.title}`});
      section.append(element('h3', {textContent: table.title}),
        element('figure', {}, element('figcaption', {textContent: 'Ratio, published and measured'}),
          element('div', {className: 'canvas'}, canvas)),
        numbersTable(table));
      if (table.note) section.append(element('p', {className: 'quiet', textContent: table.note}));
      ratioChart(canvas, table.ratios);
    });
    if (thread.legend) section.append(element('p', {className: 'quiet', textContent: thread.legend}));
  }
}

for (const {name, shapes} of report.threads) {
  const held = shapes.filter(({holds}) => holds).length;
  byId('glance').append(element('div', {}, element('strong', {textContent: `${held} of ${shapes.length}`}), `shapes of ${name} hold`));
}
tellOrigin();
draw();
redrawWhenNeeded(draw);
