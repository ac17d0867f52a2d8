// ---- The page ----
byId('made').textContent = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, made by abortscope ${report.build.version ?? ''}`;
tellCommand();
tellFacts();
resetChoices();
buildFilters();
buildTableTools();
drawTable();
if (rows.length > 0) draw();
redrawWhenNeeded(() => { if (rows.length > 0) draw(); });
