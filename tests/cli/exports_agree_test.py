#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One run, four exports: CSV, JSON, HTML and Markdown hold the same rows, number for number.

Usage: exports_agree_test.py ABORTSCOPE.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

abortscope = sys.argv[1]

with tempfile.TemporaryDirectory() as folder:
    path = {kind: pathlib.Path(folder) / f"r.{kind}" for kind in ("html", "json", "csv", "md")}
    subprocess.run([abortscope, "run", "ovs-hmap", "--threads", "4", "--mutation", "2,5,10",
                    "--policy", "none,ovs2016,kleen-wait", "--repeat", "5", "--n", "1000",
                    "--html", path["html"], "--json", path["json"], "--csv", path["csv"],
                    "--markdown", path["md"]],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path["csv"], encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    report = json.loads(path["json"].read_text(encoding="utf-8"))
    page = path["html"].read_text(encoding="utf-8")
    markdown = path["md"].read_text(encoding="utf-8")

# 3 mutations, 3 policies, 5 repeats, 4 phases
assert len(table) == 180, len(table)
assert len(report["rows"]) == len(table)

compared = 0
for line, row in zip(table, report["rows"]):
    assert set(line) == {column["name"] for column in report["columns"]}
    for name, cell in line.items():
        value = row.get(name)
        if cell == "":
            assert value is None or value == "", (name, value)
        elif isinstance(value, str):
            assert cell == value, (name, cell, value)
        else:
            assert float(cell) == float(value), (name, cell, value)
            compared += 1
assert compared > 180 * 40, compared

embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)
assert json.loads(embedded.group(1)) == report

details = markdown[markdown.index("<details><summary>All 180 rows"):].splitlines()
lines = [line for line in details if line.startswith("|")]
names = [name.strip() for name in lines[0].strip("|").split("|")]
assert len(lines) - 2 == len(table)
assert {"mutation_pct", "duration_ns", "abort_rate", "cause_conflict"} <= set(names)
for line, row in zip(lines[2:], table):
    cells = [cell.strip() for cell in line[1:-1].split("|")]
    assert len(cells) == len(names), line
    for name, cell in zip(names, cells):
        assert cell == row[name], (name, cell, row[name])
print(f"four exports agree in {compared} numbers")
