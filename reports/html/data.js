// The rows of the report, and which of them the charts show.
const columns = new Map(report.columns.map((column) => [column.name, column]));
const rows = report.rows.map((row, index) => ({...row, $absent: report.absent[index]}));


// ---- What varies: one thing along the axis, the others chosen by hand ----
const fixed = new Set(['schema_version', 'policy', 'seed', 'repeat']);
const varying = report.columns
  .filter(({name, group}) => (group === 'identity' || group === 'parameters') && !fixed.has(name))
  .map(({name}) => name)
  .filter((name) => distinct(rows.map((row) => row[name])).length > 1);
const policies = distinct(rows.map((row) => row.policy));
const baseline = policies.includes('none') ? 'none' : policies[0];
const isNumber = (name) => columns.get(name).type !== 'string';

// A parameter says more than threads or CPUs where both vary.
const axisChoices = varying.filter((name) => name !== 'phase');
const defaultAxis = axisChoices.findLast(isNumber) ?? axisChoices[0] ?? null;
const view = {axis: defaultAxis, chosen: {}};

// The phase that has transactions, otherwise the last that took longest.
const defaultPhase = () => {
  const phases = distinct(rows.map((row) => row.phase));
  const weight = (phase) => {
    const sample = rows.filter((row) => row.phase === phase);
    const attempts = sum(sample, 'tx_start') + sum(sample, 'fallbacks');
    return attempts * 1e15 + sum(sample, 'duration_ns');
  };
  return phases.reduce((best, phase) => (weight(phase) > weight(best) ? phase : best), phases[0]);
};

const selection = () => rows.filter((row) =>
  Object.entries(view.chosen).every(([name, value]) => row[name] === value));

const axisValues = () => {
  if (view.axis === null) return [null];
  const values = distinct(rows.map((row) => row[view.axis]));
  return isNumber(view.axis) ? values.sort((a, b) => a - b) : values;
};

const sampleAt = (some, value, policy) => some.filter((row) =>
  row.policy === policy && (view.axis === null || row[view.axis] === value));

function buildFilters() {
  const form = byId('filters');
  form.replaceChildren();
  if (axisChoices.length > 1) {
    const select = element('select', {id: 'axis'});
    for (const name of axisChoices) select.append(new Option(labelOf(name), name));
    select.value = view.axis;
    select.onchange = () => { view.axis = select.value; resetChoices(); buildFilters(); draw(); };
    form.append(element('label', {}, 'along the axis', select));
  }
  for (const name of Object.keys(view.chosen)) {
    const values = distinct(rows.map((row) => row[name]));
    const select = element('select', {name});
    values.forEach((value, index) => select.append(new Option(value ?? '-', index)));
    select.value = values.indexOf(view.chosen[name]);
    select.onchange = () => { view.chosen[name] = values[select.value]; draw(); };
    form.append(element('label', {}, labelOf(name), select));
  }
}

function resetChoices() {
  view.chosen = {};
  for (const name of varying) {
    if (name === view.axis) continue;
    view.chosen[name] = name === 'phase' ? defaultPhase() : rows[0][name];
  }
}
