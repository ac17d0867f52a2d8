// ---- Charts ----
const causeColours = () => ({
  conflict: '#d55e00', capacity: blue(), explicit: '#cc79a7', lock_busy: '#e69f00',
  nested: '#009e73', debug: '#7f8c8d', other: '#56b4e9',
});
const causes = Object.keys(causeColours());
const charts = new Map();
const colourOf = (policy) => {
  const colours = palette();
  const place = policies.filter((each) => each !== baseline).indexOf(policy) + 1;  // 0: the baseline
  return colours[place % colours.length];
};
// Bare transactions know no policy.
const nameOfPolicy = (policy) => policy ?? 'transactions';

function show(id, type, data, yTitle, extra = {}) {
  charts.get(id)?.destroy();
  charts.delete(id);
  const canvas = byId(id);
  canvas.parentElement.querySelector('p')?.remove();
  const empty = data.datasets.every((set) => set.data.every((value) => (value?.y ?? (typeof value === 'number' ? value : null)) === null));
  canvas.hidden = empty;
  if (empty) {
    canvas.parentElement.append(element('p', {textContent: extra.nothing ?? 'Nothing was measured'}));
    return;
  }
  const grid = {color: style('--line')};
  const ticks = {color: style('--quiet')};
  charts.set(id, new Chart(canvas, {
    type,
    data,
    options: {
      responsive: true, maintainAspectRatio: false, animation: false, spanGaps: false, clip: false,
      interaction: {mode: 'index', intersect: false},
      scales: {
        x: {...(type === 'line' ? scaleOfAxis() : {}), stacked: !!extra.stacked, grid, ticks, title: axisTitle(view.axis === null ? '' : labelOf(view.axis))},
        y: {stacked: !!extra.stacked, grid, ticks: {...ticks, callback: extra.tick}, title: axisTitle(yTitle), beginAtZero: true},
      },
      plugins: {
        legend: {labels: {color: style('--ink'), usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: extra.tooltip ? {label: extra.tooltip} : {}},
      },
    },
  }));
}

// Numbers stand at their places along the axis, words side by side.
const onScale = () => view.axis !== null && isNumber(view.axis) && axisValues().length > 1;
const scaleOfAxis = () => (onScale() ? {
  type: 'linear',
  min: Math.min(...axisValues()), max: Math.max(...axisValues()),
  afterBuildTicks: (axis) => { axis.ticks = axisValues().map((value) => ({value})); },
} : {});

const lines = (valueOf) => ({
  labels: axisValues().map((value) => value ?? ''),
  datasets: policies.map((policy) => ({
    label: nameOfPolicy(policy),
    data: axisValues().map((value) => (onScale() ? {x: value, y: valueOf(value, policy)} : valueOf(value, policy))),
    borderColor: colourOf(policy), backgroundColor: colourOf(policy),
    borderWidth: 2, pointRadius: 4, maxBarThickness: 90, pointStyle: policy === baseline ? 'rectRot' : 'circle',
  })),
});

const plural = (type) => (axisValues().length > 1 ? type : 'bar');

function drawThroughput(some) {
  const rate = (value, policy) => median(sampleAt(some, value, policy).map((row) => row.operations_per_s));
  const spread = (context) => {
    const sample = sampleAt(some, axisValues()[context.dataIndex], policies[context.datasetIndex])
      .map((row) => row.operations_per_s).filter((value) => value !== null);
    const middle = `${context.dataset.label}: ${shortNumber(context.parsed.y)}/s`;
    if (sample.length < 2) return middle;
    return `${middle} (${shortNumber(Math.min(...sample))} to ${shortNumber(Math.max(...sample))} in ${sample.length})`;
  };
  show('throughput', plural('line'), lines(rate), 'operations per second', {tick: shortNumber, tooltip: spread});
  const ratio = (value, policy) => {
    const base = rate(value, baseline);
    const other = rate(value, policy);
    return base && other ? other / base : null;
  };
  show('speedup', plural('line'), lines(ratio), `times the throughput of ${baseline}`, {nothing: policies.length === 1 ? 'One policy: nothing to compare' : undefined});
}

function drawCauses(some) {
  const bars = [];
  for (const value of axisValues()) {
    for (const policy of policies) {
      const sample = sampleAt(some, value, policy);
      if (sample.some((row) => row.tx_start > 0 || row.abort_rate !== null)) {
        bars.push({label: value === null || axisValues().length === 1 ? nameOfPolicy(policy) : [nameOfPolicy(policy), `${value}`], sample});
      }
    }
  }
  const abortsOf = (row) => causes.reduce((all, cause) => all + (row[`cause_${cause}`] ?? 0), 0);
  // Without a counter of its own the number of attempts follows from the rate.
  const attemptsOf = (row) => row.tx_start ?? (row.abort_rate ? abortsOf(row) / row.abort_rate : 0);
  const share = (sample, cause) => {
    const attempts = sample.reduce((all, row) => all + attemptsOf(row), 0);
    return attempts === 0 ? 0 : sum(sample, `cause_${cause}`) / attempts;
  };
  const used = causes.filter((cause) => bars.some(({sample}) => sum(sample, `cause_${cause}`) > 0));
  show('causes', 'bar', {
    labels: bars.map(({label}) => label),
    datasets: used.map((cause) => ({
      label: cause, backgroundColor: causeColours()[cause], maxBarThickness: 90,
      data: bars.map(({sample}) => share(sample, cause)),
    })),
  }, 'share of the attempts', {
    stacked: true, tick: percentOf, nothing: 'No transaction aborted',
    tooltip: (context) => `${context.dataset.label}: ${percentOf(context.parsed.y)}`,
  });
}

function drawFallbacks(some) {
  const eliding = policies.filter((policy) => policy !== 'none');
  const data = lines((value, policy) => {
    const sample = sampleAt(some, value, policy);
    const acquired = sum(sample, 'acquisitions');
    return acquired === 0 ? null : sum(sample, 'fallbacks') / acquired;
  });
  data.datasets = data.datasets.filter((set, place) => eliding.includes(policies[place]));
  show('fallbacks', plural('line'), data, 'share of the acquisitions', {
    tick: percentOf, nothing: 'No lock was elided',
    tooltip: (context) => `${context.dataset.label}: ${percentOf(context.parsed.y)}`,
  });
}

function draw() {
  const some = selection();
  drawThroughput(some);
  drawCauses(some);
  drawFallbacks(some);
  drawHotLines();
  drawCapacityMap();
  drawGlance(some);
}

// ---- At a glance: does it pay, and where does it break ----
function drawGlance(some) {
  const glance = byId('glance');
  glance.replaceChildren();
  const tell = (value, text) => glance.append(element('div', {}, element('strong', {textContent: value}), text));
  const at = (value) => (value === null || axisValues().length === 1 ? '' : ` at ${withoutUnit(view.axis)} ${value}`);
  const phase = view.chosen.phase ?? rows[0]?.phase;
  for (const policy of policies.filter((each) => each !== baseline)) {
    let best = null;
    let worst = null;
    for (const value of axisValues()) {
      const base = median(sampleAt(some, value, baseline).map((row) => row.operations_per_s));
      const other = median(sampleAt(some, value, policy).map((row) => row.operations_per_s));
      if (!base || !other) continue;
      const point = {ratio: other / base, value};
      if (!best || point.ratio > best.ratio) best = point;
      if (!worst || point.ratio < worst.ratio) worst = point;
    }
    if (!best) continue;
    const range = best === worst || best.ratio - worst.ratio < 0.005
      ? `${best.ratio.toFixed(2)}×` : `${worst.ratio.toFixed(2)}× to ${best.ratio.toFixed(2)}×`;
    tell(range, `the ${phase} throughput of ${baseline} with ${policy}; best${at(best.value)}`.replace(/; best$/, ''));
  }
  const aborted = causes
    .map((cause) => ({cause, count: sum(some, `cause_${cause}`)}))
    .sort((a, b) => b.count - a.count);
  const total = aborted.reduce((all, {count}) => all + count, 0);
  if (total > 0) {
    tell(aborted[0].cause, `causes ${percentOf(aborted[0].count / total)} of the aborts of ${phase}`);
  }
}
