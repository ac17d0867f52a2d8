// ---- The page ----
byId('made').textContent = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, made by abortscope ${report.build.version ?? ''}`;
tellCommand();
tellFacts();
resetChoices();
buildFilters();
buildTableTools();
drawTable();
if (rows.length > 0) draw();
isDark.addEventListener('change', draw);
addEventListener('beforeprint', () => charts.forEach((chart) => chart.resize()));
addEventListener('afterprint', () => charts.forEach((chart) => chart.resize()));
