// ---- The page ----
function tellHow() {
  byId('command').textContent = report.command;
  byId('copy').onclick = async () => {
    try {
      await navigator.clipboard.writeText(report.command);
      byId('copy').textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(byId('command'));  // no clipboard for a file: select it
    }
  };
  byId('made').textContent = `${rows.length} rows, made by abortscope ${report.build.version ?? ''}`;
  const facts = [...Object.entries(report.build), ...Object.entries(report.host)];
  for (const [name, value] of facts) {
    byId('facts').append(element('dt', {textContent: name.replaceAll('_', ' ')}), element('dd', {textContent: value}));
  }
}

tellHow();
resetChoices();
buildFilters();
buildTableTools();
drawTable();
if (rows.length > 0) draw();
isDark.addEventListener('change', draw);
addEventListener('beforeprint', () => charts.forEach((chart) => chart.resize()));
addEventListener('afterprint', () => charts.forEach((chart) => chart.resize()));
