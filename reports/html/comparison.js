// A comparison: each change is one metric at one point, before and after.
const changes = report.changes;
const metrics = new Map(report.metrics.map((metric) => [metric.name, metric]));
const along = report.by;

// Keys that tell points apart. Along a column: policies are lines, the others are chosen. Of two
// files every point has its bars, but for the phase, which is chosen.
const varying = report.key.filter((name) => distinct(changes.map((change) => change.key[name])).length > 1);
const choosable = varying.filter((name) => (along === null ? name === 'phase' : name !== along && name !== 'policy'));
const chosen = {};
const seriesKey = varying.filter((name) => name !== along && !choosable.includes(name));
const shownMetrics = report.metrics.filter(({name}) =>
  changes.some((change) => change.metric === name && (change.before.median !== 0 || change.after.median !== 0)));

const nameOf = (change, names) => names
  .map((name) => (/^[0-9.-]*$/.test(change.key[name]) ? `${withoutUnit(name)} ${change.key[name]}` : change.key[name]))
  .filter(Boolean).join(', ');

const seriesOf = (change) => nameOf(change, seriesKey) || 'all';
const allSeries = distinct(changes.map(seriesOf)).sort((a, b) => b.startsWith('none') - a.startsWith('none'));
const hasNone = allSeries[0]?.startsWith('none');
const colourOf = (series) => palette()[(allSeries.indexOf(series) + (hasNone ? 0 : 1)) % palette().length];

const selected = (metric) => changes.filter((change) => change.metric === metric &&
  Object.entries(chosen).every(([name, value]) => change.key[name] === value));

// ---- Charts: medians with their intervals ----
const charts = [];
const whiskers = {
  id: 'whiskers',
  afterDatasetsDraw(chart) {
    const {ctx} = chart;
    chart.data.datasets.forEach((set, index) => {
      if (!chart.isDatasetVisible(index)) return;
      ctx.strokeStyle = style('--ink');
      ctx.lineWidth = 1;
      chart.getDatasetMeta(index).data.forEach((point, place) => {
        const interval = set.intervals[place];
        if (!interval || interval[0] === interval[1]) return;
        const [low, high] = interval.map((value) => chart.scales.y.getPixelForValue(value));
        ctx.beginPath();
        ctx.moveTo(point.x, low);
        ctx.lineTo(point.x, high);
        for (const end of [low, high]) {
          ctx.moveTo(point.x - 4, end);
          ctx.lineTo(point.x + 4, end);
        }
        ctx.stroke();
      });
    });
  },
};

// Along a column: a line for each series, from the baseline's value on.
function linesOf(metric) {
  const baseline = report.before.slice(along.length + 1);
  const series = new Map();
  for (const change of selected(metric)) {
    const name = seriesOf(change);
    if (!series.has(name)) series.set(name, [{value: baseline, estimate: change.before}]);
    series.get(name).push({value: change.key[along], estimate: change.after});
  }
  const values = distinct([...series.values()].flat().map(({value}) => value));
  const numeric = values.every((value) => value !== '' && isFinite(value));
  if (numeric) values.sort((a, b) => a - b);
  const datasets = [...series].map(([label, points]) => {
    const colour = colourOf(label);
    const sorted = values.map((value) => points.find((point) => point.value === value)).filter(Boolean);
    return {
      label, borderColor: colour, backgroundColor: colour, borderWidth: 2, pointRadius: 4,
      data: sorted.map(({value, estimate}) => ({x: numeric ? Number(value) : value, y: estimate.median})),
      intervals: sorted.map(({estimate}) => estimate.interval),
    };
  });
  const ticks = values.map((value) => ({value: Number(value)}));
  const axis = numeric
    ? {type: 'linear', min: Number(values[0]), max: Number(values.at(-1)), afterBuildTicks: (scale) => { scale.ticks = ticks; }}
    : {type: 'category', labels: values};
  return {type: 'line', data: {datasets}, axis, title: labelOf(along)};
}

// Two files: two bars for each point.
function barsOf(metric) {
  const points = selected(metric).filter((change) => change.before.median !== 0 || change.after.median !== 0);
  const bars = (side, colour) => ({
    label: report[side], backgroundColor: colour,
    data: points.map((change) => change[side].median),
    intervals: points.map((change) => change[side].interval),
  });
  return {
    type: 'bar', axis: {}, title: '',
    data: {labels: points.map(seriesOf), datasets: [bars('before', palette()[0]), bars('after', palette()[1])]},
  };
}

function drawChart(metric) {
  const {type, data, axis, title} = along === null ? barsOf(metric.name) : linesOf(metric.name);
  const numbers = data.datasets.flatMap((set) => set.data.map((value) => value.y ?? value));
  if (numbers.every((value) => value === 0)) return;
  const canvas = element('canvas', {id: `chart-${metric.name}`, role: 'img', ariaLabel: metric.name});
  byId('charts').append(element('figure', {},
    element('figcaption', {textContent: metric.name.replaceAll('_', ' ')}),
    element('div', {className: 'canvas'}, canvas)));
  const highest = Math.max(...data.datasets.flatMap(({intervals}) => intervals.map(([, high]) => high)));
  const tell = metric.is_rate ? percentOf : shortNumber;
  const grid = {color: style('--line')};
  const ticks = {color: style('--quiet')};
  charts.push(new Chart(canvas, {
    type, data, plugins: [whiskers],
    options: {
      responsive: true, maintainAspectRatio: false, animation: false, clip: false,
      interaction: {mode: 'index', intersect: false},
      scales: {
        x: {...axis, grid, ticks, title: axisTitle(title)},
        y: {grid, ticks: {...ticks, callback: tell}, beginAtZero: true, suggestedMax: highest, title: axisTitle(metric.is_rate ? '' : metric.unit || 'count')},
      },
      plugins: {
        legend: {labels: {color: style('--ink'), usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: {label: ({dataset, dataIndex, parsed}) =>
          `${dataset.label}: ${tell(parsed.y)} (${dataset.intervals[dataIndex].map(tell).join(' to ')})`}},
      },
    },
  }));
}

function draw() {
  charts.splice(0).forEach((chart) => chart.destroy());
  byId('charts').replaceChildren();
  shownMetrics.forEach(drawChart);
}

function buildFilters() {
  for (const name of choosable) {
    const values = distinct(changes.map((change) => change.key[name]));
    // The phase with the most metrics that are not 0 says most.
    const weight = (value) => changes.filter((change) => change.key[name] === value && change.after.median !== 0).length;
    chosen[name] = values.reduce((best, value) => (weight(value) > weight(best) ? value : best), values[0]);
    const select = element('select', {name});
    for (const value of values) select.append(new Option(value || '-', value));
    select.value = chosen[name];
    select.onchange = () => { chosen[name] = select.value; draw(); };
    byId('filters').append(element('label', {}, withoutUnit(name), select));
  }
}

// ---- At a glance, and the table ----
function drawGlance() {
  const tell = {
    better: 'changes for the better', worse: 'changes for the worse',
    'not significant': 'differences that may be chance', 'too few': 'with too few repeats to tell',
  };
  for (const [verdict, text] of Object.entries(tell)) {
    const count = changes.filter((change) => change.verdict === verdict).length;
    if (count === 0 && verdict === 'too few') continue;
    byId('glance').append(element('div', {}, element('strong', {textContent: count}), text));
  }
}

const tableColumns = [
  {name: 'metric', of: (change) => change.metric},
  ...varying.map((name) => ({name, of: (change) => change.key[name]})),
  ...['before', 'after'].map((side) => ({
    name: side, number: true, of: (change) => change[side].median,
    text: (change) => numberText(change, change[side].median),
    title: (change) => `${numberText(change, change[side].interval[0])} to ${numberText(change, change[side].interval[1])}, ${change[side].repeats} repeats`,
  })),
  {name: 'delta', number: true, of: (change) => change.delta,
    text: (change) => deltaText(change, change.delta)},
  {name: '95 % interval', number: true, of: (change) => change.delta_interval[0],
    text: (change) => change.delta_interval.map((value) => deltaText(change, value)).join(' to ')},
  {name: 'ratio', number: true, of: (change) => change.ratio, text: (change) => change.ratio?.toFixed(3) ?? '–',
    title: (change) => (change.ratio_interval ? change.ratio_interval.map((value) => value.toFixed(3)).join(' to ') : 'nothing to divide by')},
  {name: 'p', number: true, of: (change) => change.p, text: (change) => (change.p < 0.001 ? '<0.001' : change.p.toFixed(3))},
  {name: 'verdict', of: (change) => change.verdict},
];
const numberText = (change, value) => (metrics.get(change.metric).is_rate ? percentOf(value)
  : value.toLocaleString('en', {maximumSignificantDigits: 6}));
const deltaText = (change, value) => (metrics.get(change.metric).is_rate ? `${(value * 100).toFixed(2)} pp`
  : numberText(change, value));
const sorting = {column: null, descending: false};

function orderOf(a, b) {
  const [left, right] = [sorting.column.of(a), sorting.column.of(b)];
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  const numeric = typeof left === 'number' || (isFinite(left) && isFinite(right));
  const order = numeric ? left - right : `${left}`.localeCompare(`${right}`);
  return sorting.descending ? -order : order;
}

function drawTable() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = changes.filter((change) => {
    const all = [change.metric, change.verdict, ...Object.values(change.key)].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  });
  if (sorting.column !== null) kept.sort(orderOf);
  const head = element('tr');
  for (const column of tableColumns) {
    const sorted = sorting.column === column;
    const button = element('button', {type: 'button', textContent: column.name + (sorted ? (sorting.descending ? ' ▼' : ' ▲') : '')});
    button.onclick = () => {
      sorting.descending = sorted ? !sorting.descending : false;
      sorting.column = column;
      drawTable();
    };
    head.append(element('th', {scope: 'col', className: column.number ? 'number' : ''}, button));
  }
  byId('rows').tHead.replaceChildren(head);
  byId('rows').tBodies[0].replaceChildren(...kept.map((change) => {
    const line = element('tr', {className: change.verdict});
    for (const column of tableColumns) {
      line.append(element('td', {className: column.number ? 'number' : column.name,
        textContent: (column.text ?? column.of)(change), title: column.title?.(change) ?? ''}));
    }
    return line;
  }));
  byId('row-count').textContent = `${kept.length} of ${changes.length} lines`;
}

function tellAlone() {
  for (const [side, keys] of [['before', report.only_before], ['after', report.only_after]]) {
    if (keys.length === 0) continue;
    byId('alone').append(element('h2', {textContent: `Only in ${report[side]}`}),
      element('ul', {}, ...keys.map((key) => element('li', {textContent: key.filter(Boolean).join(', ')}))));
  }
}

tellOrigin();
drawGlance();
buildFilters();
draw();
byId('search').oninput = drawTable;
drawTable();
tellAlone();
redrawWhenNeeded(draw);
