'use strict';
// What every page has: its data, which abortscope also writes with --json, and small tools.
const report = JSON.parse(document.getElementById('report').textContent);
const byId = (id) => document.getElementById(id);

const median = (values) => {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const distinct = (values) => [...new Set(values)];
const sum = (sample, name) => sample.reduce((total, row) => total + (row[name] ?? 0), 0);
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const withoutUnit = (name) => name.replace(/_(pct|ns|us|bytes|cycles)$/, '');
const units = {pct: '%', ns: 'ns', us: 'µs', bytes: 'bytes', cycles: 'cycles'};
const labelOf = (name) => {
  const unit = units[name.split('_').pop()];
  return unit ? `${withoutUnit(name)} [${unit}]` : name;
};
const shortNumber = (value) => Intl.NumberFormat('en', {notation: 'compact', maximumSignificantDigits: 3}).format(value);
const percentOf = (value) => `${(value * 100).toLocaleString('en', {maximumSignificantDigits: 3})} %`;

// Okabe and Ito's colours, which the colour-blind can tell apart; the blue is lighter on dark.
const isDark = matchMedia('(prefers-color-scheme: dark)');
const printing = () => document.documentElement.classList.contains('printing');
const blue = () => (isDark.matches && !printing() ? '#3d9fe0' : '#0072b2');
const palette = () => ['#7f8c8d', blue(), '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b8a800'];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const axisTitle = (text) => ({display: true, text, color: style('--quiet')});

// Charts are drawn again for another colour scheme, and for paper, which is light.
function redrawWhenNeeded(draw) {
  isDark.addEventListener('change', draw);
  for (const [event, onPaper] of [['beforeprint', true], ['afterprint', false]]) {
    addEventListener(event, () => {
      document.documentElement.classList.toggle('printing', onPaper);
      draw();
    });
  }
}

// The command with its button, and what the report was made by; `what` it is stands before that.
function tellOrigin(what = '') {
  byId('made').textContent = `${what}made by abortscope ${report.build.version ?? ''}`;
  for (const word of report.command.split(' ')) byId('command').append(element('span', {textContent: word}), ' ');
  byId('copy').onclick = async () => {
    try {
      await navigator.clipboard.writeText(report.command);
      byId('copy').textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(byId('command'));  // no clipboard for a file: select it
    }
  };
  for (const [name, value] of [...Object.entries(report.build), ...Object.entries(report.host)]) {
    byId('facts').append(element('dt', {textContent: name.replaceAll('_', ' ')}), element('dd', {textContent: value}));
  }
}
