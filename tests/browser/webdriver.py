# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium through chromedriver's WebDriver protocol: as much as the tests need."""

import base64
import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request


class Browser:
    """One session; use it as a context manager."""

    def __init__(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            port = re.search(r"successfully on port (\d+)", line)
            if port:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{port.group(1)}"
        flags = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to sandbox as root
        options = {"args": flags, "binary": shutil.which("chromium")}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += f"/session/{answer['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from error

    def open(self, path):
        self._call("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        """The value that the script's body returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def view(self, width, dark, height=1000):
        """A window of that width, in that colour scheme."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def complaints(self):
        """Warnings and errors of the console since the last call."""
        entries = self._call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def screenshot(self, path):
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))


def available():
    return shutil.which("chromedriver") is not None and shutil.which("chromium") is not None
