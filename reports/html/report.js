// ---- The page ----
tellOrigin(`${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, `);
resetChoices();
buildFilters();
buildTableTools();
drawTable();
if (rows.length > 0) draw();
redrawWhenNeeded(() => { if (rows.length > 0) draw(); });
