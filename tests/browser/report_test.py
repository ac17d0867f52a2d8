#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML report in headless Chromium: charts are drawn, the table sorts and filters.

Usage: report_test.py ABORTSCOPE FOLDER; screenshots are left in FOLDER.
Exit status 77: Chromium or its driver is not there.
"""

import json
import os
import subprocess
import sys
import unittest

import webdriver

ABORTSCOPE, FOLDER = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
CHARTS = ("throughput", "speedup", "causes", "fallbacks", "hot-lines")

# How many of a canvas's pixels are opaque, and how many colours they have.
PIXELS = """
const canvas = document.getElementById(arguments[0]);
const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const colours = new Set();
let opaque = 0;
for (let i = 0; i < data.length; i += 4) {
  if (data[i + 3] < 200) continue;
  ++opaque;
  colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
}
return {opaque, colours: colours.size, hidden: canvas.hidden};
"""

COLUMN = """
const names = [...document.querySelectorAll('#rows th button')].map((button) => button.textContent.split(' ')[0]);
const place = names.indexOf(arguments[0]);
return [...document.querySelectorAll('#rows tbody tr')].map((row) => row.cells[place].title || row.cells[place].textContent);
"""

CLICK = """
[...document.querySelectorAll('#rows th button')]
  .find((button) => button.textContent.split(' ')[0] === arguments[0]).click();
"""

SEARCH = """
const search = document.getElementById('search');
search.value = arguments[0];
search.dispatchEvent(new Event('input'));
return document.querySelectorAll('#rows tbody tr').length;
"""


def report(name, *words):
    """Runs a sweep and gives the path of its page, and its JSON."""
    page, data = (os.path.join(FOLDER, f"{name}.{kind}") for kind in ("html", "json"))
    subprocess.run([ABORTSCOPE, "run", *words, "--html", page, "--json", data],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(data, encoding="utf-8") as file:
        return page, json.load(file)


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page, cls.data = report(
            "sweep", "ovs-hmap", "--n", "2000", "--mutation", "2,5,10", "--threads", "2,4",
            "--policy", "none,ovs2016,kleen-wait", "--repeat", "2")
        cls.browser = webdriver.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints(), [])

    def test_charts_are_drawn_at_every_width_light_and_dark(self):
        for width in (400, 1280, 1920):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.browser.view(width, dark)
                    self.browser.open(self.page)
                    for chart in CHARTS:
                        pixels = self.browser.run(PIXELS, chart)
                        self.assertFalse(pixels["hidden"], chart)
                        self.assertGreater(pixels["opaque"], 1000, chart)
                        self.assertGreater(pixels["colours"], 10, chart)
                    overflow = self.browser.run(
                        "return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(overflow, 0, "the page scrolls sideways")
                    self.assert_quiet()
                    scheme = "dark" if dark else "light"
                    self.browser.screenshot(os.path.join(FOLDER, f"report-{width}-{scheme}.png"))

    def test_the_page_holds_the_same_rows_as_the_json(self):
        self.browser.open(self.page)
        rows = self.browser.run("return report.rows")
        self.assertEqual(rows, self.data["rows"])

    def test_the_table_sorts_by_number_and_back(self):
        self.browser.open(self.page)
        self.browser.run(CLICK, "duration_ns")
        up = [int(value) for value in self.browser.run(COLUMN, "duration_ns")]
        self.assertEqual(up, sorted(row["duration_ns"] for row in self.data["rows"]))
        self.browser.run(CLICK, "duration_ns")
        down = [int(value) for value in self.browser.run(COLUMN, "duration_ns")]
        self.assertEqual(down, up[::-1])
        self.assert_quiet()

    def test_the_table_filters_by_words(self):
        self.browser.open(self.page)
        wanted = [row for row in self.data["rows"]
                  if row["policy"] == "ovs2016" and row["phase"] == "search"]
        self.assertEqual(self.browser.run(SEARCH, "OVS2016 search"), len(wanted))
        self.assertEqual(set(self.browser.run(COLUMN, "phase")), {"search"})
        self.assertEqual(self.browser.run(SEARCH, "no such row"), 0)
        self.assertEqual(self.browser.run(SEARCH, ""), len(self.data["rows"]))
        self.assert_quiet()

    def test_absent_cells_say_why(self):
        page, data = report("native", "ovs-hmap", "--n", "500", "--machine", "native",
                            "--policy", "none")
        self.browser.open(page)
        reasons = self.browser.run(
            "return [...document.querySelectorAll('#rows td.absent')].map((cell) => cell.title)")
        self.assertGreater(len(reasons), 0)
        self.assertNotIn("", reasons)
        names = [column["name"] for column in data["columns"]]
        for absent, row in zip(data["absent"], data["rows"]):
            for name in absent:
                self.assertIn(name, names)
                self.assertIsNone(row[name])
        self.assert_quiet()

    def test_paper_is_light(self):
        self.browser.view(1280, True)
        self.browser.open(self.page)
        ink = "return charts.get('throughput').options.plugins.legend.labels.color"
        dark = self.browser.run(ink)
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.browser.run(ink), "#000")
        self.browser.devtools("Emulation.setEmulatedMedia", media="print")
        self.browser.devtools("Emulation.setDeviceMetricsOverride", width=760, height=1000,
                              deviceScaleFactor=1, mobile=False)
        self.assertTrue(self.browser.run(
            "return document.querySelector('#rows th button').checkVisibility()"))
        overflow = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(overflow, 0, "the table is wider than the paper")
        self.browser.devtools("Emulation.setEmulatedMedia", media="")
        self.browser.view(1280, True)
        pdf = self.browser.devtools("Page.printToPDF")["data"]
        self.assertGreater(len(pdf), 10000)
        self.browser.run("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.browser.run(ink), dark)
        self.assert_quiet()

    def test_hot_lines_are_those_of_the_selected_trials(self):
        self.browser.view(1280, False)
        self.browser.open(self.page)
        drawn = self.browser.run("""
          const {data} = charts.get('hot-lines');
          return {labels: data.labels, kinds: data.datasets.map(({label}) => label),
                  sum: data.datasets.flatMap((set) => set.data).reduce((a, b) => a + b, 0)};
        """)
        self.assertIn("hmap.n", drawn["labels"])
        self.assertIn("false sharing", drawn["kinds"])
        # Beside the lines there are interrupts, and lines that are not among the worst ten.
        aborts = sum(row["tx_abort"] for row in self.data["rows"] if row["threads"] == 2)
        self.assertGreater(drawn["sum"], 0.9 * aborts)
        self.assertLessEqual(drawn["sum"], aborts)
        self.assertIn("L1", self.browser.run(
            "return document.getElementById('capacity-map').parentElement.textContent"))
        self.assert_quiet()

    def test_the_capacity_map_shows_where_l1_overflowed(self):
        page, data = report("capacity", "rtm-capacity")
        for width, dark in ((400, True), (1280, False)):
            self.browser.view(width, dark)
            self.browser.open(page)
            pixels = self.browser.run(PIXELS, "capacity-map")
            self.assertFalse(pixels["hidden"])
            self.assertGreater(pixels["opaque"], 1000)
            self.assertGreater(pixels["colours"], 3)
            counted = self.browser.run("return capacity.counts.reduce((a, b) => a + b, 0)")
            self.assertGreater(counted, 0)
            self.assertLessEqual(counted, sum(row["cause_capacity"] or 0 for row in data["rows"]))
            told = self.browser.run("""
              const canvas = document.getElementById('capacity-map');
              const {cell, row} = mapGeometry(canvas);
              const box = canvas.getBoundingClientRect();
              canvas.dispatchEvent(new MouseEvent('mousemove', {
                clientX: box.left + mapMargins.left + 3.5 * cell, clientY: box.top + mapMargins.top + 1.5 * row}));
              return canvas.title;
            """)
            self.assertRegex(told, r"^set 3, way 1: \d+ aborts$")
            self.assert_quiet()
            self.browser.screenshot(os.path.join(FOLDER, f"capacity-{width}.png"))

    def test_choosing_another_axis_and_phase_draws_again(self):
        self.browser.open(self.page)
        for name, value in (("axis", "threads"), ("phase", "0")):
            before = self.browser.run("return document.getElementById('throughput').toDataURL()")
            self.browser.run("""
              const select = document.querySelector(`#filters select[id=${arguments[0]}], #filters select[name=${arguments[0]}]`);
              select.value = arguments[1];
              select.dispatchEvent(new Event('change'));
            """, name, value)
            after = self.browser.run("return document.getElementById('throughput').toDataURL()")
            self.assertNotEqual(before, after, name)
        self.assert_quiet()

    def compare(self, name, *words):
        """Runs a comparison and gives the path of its page, and its JSON."""
        page, data = (os.path.join(FOLDER, f"{name}.{kind}") for kind in ("html", "json"))
        subprocess.run([ABORTSCOPE, "compare", *words, "--html", page, "--json", data],
                       check=True, stdout=subprocess.DEVNULL)
        with open(data, encoding="utf-8") as file:
            return page, json.load(file)

    def test_comparisons_draw_every_metric_light_and_dark(self):
        rows = os.path.join(FOLDER, "rows.csv")
        report("rows", "ovs-hmap", "--n", "1000", "--mutation", "2,5,10", "--repeat", "5",
               "--csv", rows)
        along = self.compare("along", rows, "--by", "mutation_pct", "--baseline", "2")
        files = self.compare("files", rows, rows)
        for name, (page, data) in (("along", along), ("files", files)):
            for width, dark in ((400, False), (1280, True), (1920, False)):
                with self.subTest(name=name, width=width):
                    self.browser.view(width, dark)
                    self.browser.open(page)
                    charts = self.browser.run(
                        "return [...document.querySelectorAll('canvas')].map((canvas) => canvas.id)")
                    self.assertIn("chart-abort_rate", charts)
                    self.assertIn("chart-operations_per_s", charts)
                    for chart in charts:
                        self.assertGreater(self.browser.run(PIXELS, chart)["opaque"], 1000, chart)
                    overflow = self.browser.run(
                        "return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(overflow, 0, "the page scrolls sideways")
                    self.assert_quiet()
            self.browser.screenshot(os.path.join(FOLDER, f"compare-{name}.png"))
            shown = self.browser.run(SEARCH, "abort_rate ovs2016")
            wanted = [change for change in data["changes"] if change["metric"] == "abort_rate"
                      and change["key"]["policy"] == "ovs2016"]
            self.assertEqual(shown, len(wanted))
            low, high = wanted[-1]["delta_interval"]
            intervals = self.browser.run(COLUMN, "95")
            self.assertEqual(intervals[-1], f"{100 * low:.2f} pp to {100 * high:.2f} pp")
            self.browser.run(CLICK, "after")
            self.assert_quiet()

    def test_stat_shows_what_was_counted_and_why_the_rest_was_not(self):
        page, data = (os.path.join(FOLDER, f"stat.{kind}") for kind in ("html", "json"))
        subprocess.run([ABORTSCOPE, "stat", "-I", "20", "-r", "2", "--html", page, "--json", data, "--",
                        sys.executable, "-c", "import time; time.sleep(.1); b = bytearray(1 << 24)"],
                       check=True, stderr=subprocess.DEVNULL)
        with open(data, encoding="utf-8") as file:
            counters = json.load(file)["mean"]["counters"]
        for width, dark in ((400, False), (1280, True)):
            self.browser.view(width, dark)
            self.browser.open(page)
            charts = self.browser.run("return [...document.querySelectorAll('canvas')].map((canvas) => canvas.id)")
            self.assertIn("elapsed", charts)
            self.assertIn("over-time", charts)
            for chart in charts:
                self.assertGreater(self.browser.run(PIXELS, chart)["opaque"], 1000, chart)
            self.assertLessEqual(self.browser.run(
                "return document.documentElement.scrollWidth - innerWidth"), 0)
            self.browser.screenshot(os.path.join(FOLDER, f"stat-{width}.png"))
            self.assert_quiet()
        reasons = self.browser.run(
            "return [...document.querySelectorAll('#rows td.absent')].map((cell) => cell.title)")
        self.assertNotIn("", reasons)
        for counter in counters.values():
            if counter["value"] is None:
                self.assertIn(counter["absent_reason"], reasons)

    def test_published_stands_beside_measured(self):
        page = os.path.join(FOLDER, "reproduce.html")
        subprocess.run([ABORTSCOPE, "reproduce", "rwsem-2019", "--quick", "--html", page],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for width, dark in ((400, True), (1280, False)):
            self.browser.view(width, dark)
            self.browser.open(page)
            self.assertGreater(self.browser.run(PIXELS, "rwsem-2019-0")["opaque"], 1000)
            self.assertLessEqual(self.browser.run(
                "return document.documentElement.scrollWidth - innerWidth"), 0)
            self.browser.screenshot(os.path.join(FOLDER, f"reproduce-{width}.png"))
            self.assert_quiet()
        verdicts = self.browser.run(
            "return [...document.querySelectorAll('td.verdict')].map((cell) => cell.textContent)")
        self.assertEqual(len(verdicts), 6)
        self.assertLessEqual(set(verdicts), {"holds", "does not hold"})
        ratios = self.browser.run(
            "return report.threads[0].tables[0].ratios.map(({published}) => published)")
        self.assertEqual([round(ratio, 2) for ratio in ratios],
                         [1.02, 0.98, 1.03, 1.27, 1.03, 1.23, 0.7, 0.61])

    def test_one_row_alone_makes_a_page(self):
        page, _ = report("one", "ovs-hmap", "--n", "100", "--policy", "none", "--mutation", "0")
        self.browser.open(page)
        self.assertFalse(self.browser.run(PIXELS, "throughput")["hidden"])
        self.assert_quiet()


if __name__ == "__main__":
    if not webdriver.available():
        print("skipped: no chromium and chromedriver (Debian: chromium, chromium-driver)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]], verbosity=2)
