// ---- The table ----
const groups = distinct(report.columns.map(({group}) => group));
const shownGroups = new Set(['identity', 'parameters', 'results']);
const sorting = {name: null, descending: false};
const never = new Set(report.columns.map(({name}) => name)
  .filter((name) => name === 'schema_version' || rows.every((row) => row[name] === null)));

function visibleColumns() {
  return report.columns.filter(({name, group}) =>
    shownGroups.has(group) && (!never.has(name) || group === 'counters') && name !== 'schema_version');
}

function compareCells(a, b) {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  const order = typeof a === 'number' ? a - b : `${a}`.localeCompare(`${b}`);
  return sorting.descending ? -order : order;
}

function filteredRows() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (row) => report.columns.map(({name}) => row[name] ?? '').join('\n').toLowerCase();
  const kept = words.length === 0 ? [...rows] : rows.filter((row) => {
    const all = text(row);
    return words.every((word) => all.includes(word));
  });
  if (sorting.name !== null) kept.sort((a, b) => compareCells(a[sorting.name], b[sorting.name]));
  return kept;
}

function cellOf(row, {name, type}) {
  const value = row[name];
  if (value === null) {
    const reason = row.$absent[name] ?? (columns.get(name).group === 'parameters'
      ? 'the scenario has no such parameter' : 'not measured, or nothing to divide by');
    return element('td', {className: type === 'string' ? 'absent' : 'absent number', title: reason, textContent: '–'});
  }
  if (type === 'string') {
    return element('td', {textContent: value, className: value.length > 40 ? 'wrap' : ''});
  }
  const exact = `${value}`;
  const text = type === 'integer' && !['seed', 'threads', 'cpus', 'repeat'].includes(name)
    ? value.toLocaleString('en') : value.toLocaleString('en', {maximumSignificantDigits: 6, useGrouping: type !== 'integer'});
  return element('td', {className: 'number', textContent: text, title: exact});
}

function drawTable() {
  const shown = visibleColumns();
  const head = element('tr');
  for (const column of shown) {
    const sorted = sorting.name === column.name;
    const button = element('button', {type: 'button', title: column.help,
      textContent: column.name + (sorted ? (sorting.descending ? ' ▼' : ' ▲') : '')});
    button.onclick = () => {
      sorting.descending = sorted ? !sorting.descending : false;
      sorting.name = column.name;
      drawTable();
    };
    const cell = element('th', {scope: 'col', className: column.type === 'string' ? '' : 'number'},
      button, element('span', {className: 'unit', textContent: column.unit}));
    cell.ariaSort = sorted ? (sorting.descending ? 'descending' : 'ascending') : 'none';
    head.append(cell);
  }
  const table = byId('rows');
  table.tHead.replaceChildren(head);
  const kept = filteredRows();
  table.tBodies[0].replaceChildren(...kept.map((row) =>
    element('tr', {}, ...shown.map((column) => cellOf(row, column)))));
  byId('row-count').textContent = `${kept.length} of ${rows.length} rows`;
}

function buildTableTools() {
  byId('search').oninput = drawTable;
  for (const group of groups) {
    const box = element('input', {type: 'checkbox', name: group, checked: shownGroups.has(group)});
    box.onchange = () => { box.checked ? shownGroups.add(group) : shownGroups.delete(group); drawTable(); };
    byId('groups').append(element('label', {}, box, ` ${group}`));
  }
}
