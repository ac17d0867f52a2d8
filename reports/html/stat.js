// What `stat` counted: means of the runs, and intervals of the first run that has any.
const {runs, mean} = report;
const valueOf = (name) => mean.counters[name]?.value ?? null;
const charts = [];

function addChart(id, title, config, yTitle, tell = shortNumber, xTitle = '') {
  const canvas = element('canvas', {id, role: 'img', ariaLabel: title});
  byId('charts').append(element('figure', {},
    element('figcaption', {textContent: title}), element('div', {className: 'canvas'}, canvas)));
  const grid = {color: style('--line')};
  const ticks = {color: style('--quiet')};
  charts.push(new Chart(canvas, {
    ...config,
    options: {
      responsive: true, maintainAspectRatio: false, animation: false, clip: false,
      interaction: {mode: 'index', intersect: false},
      scales: {
        x: {...config.xScale, grid, ticks: {...ticks, maxRotation: 45}, title: axisTitle(xTitle)},
        y: {grid, ticks: {...ticks, callback: tell}, beginAtZero: true, title: axisTitle(yTitle)},
      },
      plugins: {legend: {display: false}},
    },
  }));
}

const bars = (names) => ({
  type: 'bar',
  data: {
    labels: names.map((name) => name.replace(/^(tx|abort)_/, '')),
    datasets: [{data: names.map(valueOf), maxBarThickness: 90,
      backgroundColor: names.map((name) => (name === 'tx_commit' ? '#009e73' : name === 'tx_start' ? '#7f8c8d' : '#d55e00'))}],
  },
});

// Counts of each interval as a rate, of the counter that was chosen.
const intervals = runs.find((run) => run.intervals.length > 1)?.intervals ?? [];
const overTime = Object.keys(mean.counters)
  .filter((name) => intervals.some(({counters}) => counters[name].value !== null));
const view = {counter: overTime.find((name) => name === 'tx_abort') ?? overTime[0]};

function intervalLine() {
  const points = intervals.map(({end_ns, counters}, place) => {
    const seconds = (end_ns - (place === 0 ? 0 : intervals[place - 1].end_ns)) / 1e9;
    const {value} = counters[view.counter];
    return {x: end_ns / 1e9, y: value === null || seconds === 0 ? null : value / seconds};
  });
  return {
    type: 'line', xScale: {type: 'linear', max: points.at(-1).x},
    data: {datasets: [{label: view.counter, data: points, borderColor: blue(), backgroundColor: blue(), borderWidth: 2, pointRadius: 2}]},
  };
}

function draw() {
  charts.splice(0).forEach((chart) => chart.destroy());
  byId('charts').replaceChildren();
  const some = (names) => names.filter((name) => valueOf(name) !== null);
  const outcomes = some(['tx_start', 'tx_commit', 'tx_abort']);
  if (outcomes.length > 0) addChart('outcomes', 'Transactions', bars(outcomes), 'transactions');
  const categories = some(['tx_conflict', 'tx_capacity', 'tx_capacity_read', 'tx_capacity_write',
    'abort_mem', 'abort_timer', 'abort_unfriendly', 'abort_memtype', 'abort_events']);
  if (categories.length > 0) addChart('categories', 'Aborts by category', bars(categories), 'aborts');
  if (overTime.length > 0) addChart('over-time', `${view.counter} over time`, intervalLine(), 'per second', shortNumber, 'time [s]');
  addChart('elapsed', 'Elapsed time', {
    type: 'bar',
    data: {
      labels: runs.map((_, place) => `run ${place + 1}`),
      datasets: [{data: runs.map(({elapsed_ns}) => elapsed_ns / 1e6), backgroundColor: blue(), maxBarThickness: 90}],
    },
  }, 'ms');
}

function buildFilters() {
  if (overTime.length < 2) return;
  const select = element('select', {id: 'counter'});
  for (const name of overTime) select.append(new Option(name, name));
  select.value = view.counter;
  select.onchange = () => { view.counter = select.value; draw(); };
  byId('filters').append(element('label', {}, 'over time', select));
}

function drawGlance() {
  const tell = (value, text) => byId('glance').append(element('div', {}, element('strong', {textContent: value}), text));
  const seconds = median(runs.map(({elapsed_ns}) => elapsed_ns)) / 1e9;
  if (runs.length > 0) tell(`${seconds.toLocaleString('en', {maximumSignificantDigits: 4})} s`, `elapsed, ${runs.length === 1 ? 'in one run' : `median of ${runs.length} runs`}`);
  if (valueOf('tx_start') > 0 && valueOf('tx_abort') !== null) {
    tell(percentOf(valueOf('tx_abort') / valueOf('tx_start')), 'of the transactions aborted');
  }
  const failed = runs.find(({status}) => status !== 0);
  if (failed) tell(failed.status, failed.signal ? `is its status: signal ${failed.signal} ended it` : 'is its exit status');
}

function drawTable() {
  byId('rows').tHead.replaceChildren(element('tr', {},
    ...[['counter', ''], ['mean', 'number'], ['per CPU second', 'number'], ['source', ''], ['remark', '']]
      .map(([name, className]) => element('th', {scope: 'col', textContent: name, className}))));
  const clock = valueOf('task_clock_ns');
  const absent = (reason) => element('td', {className: 'absent number', textContent: '–', title: reason});
  const lines = Object.entries(mean.counters).map(([name, {value, source, running_pct, absent_reason}]) => element('tr', {},
    element('td', {textContent: name}),
    value === null ? absent(absent_reason) : element('td', {className: 'number', textContent: value.toLocaleString('en'), title: `${value}`}),
    value === null || !clock || name === 'task_clock_ns' ? absent(value === null ? absent_reason : 'no CPU time to divide by')
      : element('td', {className: 'number', textContent: shortNumber(value / clock * 1e9)}),
    element('td', {textContent: source}),
    element('td', {className: 'wrap', textContent: value === null ? absent_reason : source === 'scaled' ? `ran ${running_pct.toFixed(1)} % of the time` : ''})));
  const derived = Object.entries(mean.derived).filter(([, value]) => value !== null).map(([name, value]) => element('tr', {},
    element('td', {textContent: name}),
    element('td', {className: 'number', textContent: value.toLocaleString('en', {maximumSignificantDigits: 4})}),
    element('td'), element('td', {textContent: 'derived'}), element('td', {className: 'wrap', textContent: report.help[name] ?? ''})));
  byId('rows').tBodies[0].replaceChildren(...lines, ...derived);
}

byId('plan').textContent = report.plan;
tellOrigin();
drawGlance();
buildFilters();
draw();
drawTable();
redrawWhenNeeded(draw);
