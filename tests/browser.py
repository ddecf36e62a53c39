"""A headless Chromium driven over its own protocol: pages as a person sees them, for tests and for the docs' pictures.

No name but loopback resolves in it, and what it asked for elsewhere is kept in `outside`.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def binary() -> str:
    """Path of a Chromium; empty when there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), "")


class Browser:
    """One page of a headless browser."""

    def __init__(self, width: int = 1280, height: int = 1500) -> None:
        self._size = (width, height)
        self._number = 0
        self.outside: set[str] = set()

    def __enter__(self) -> Browser:
        self._folder = tempfile.mkdtemp(prefix="examgen-browser-")
        words = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            f"--window-size={self._size[0]},{self._size[1]}", f"--user-data-dir={self._folder}",
            "--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank",
        ]
        self._child = subprocess.Popen(
            [binary(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        port = self._port()
        self._socket: ClientConnection = connect(self._target(port), max_size=None, open_timeout=60, compression=None)
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.size(*self._size)
        return self

    def size(self, width: int, height: int) -> None:
        """Size of the page in pixels. Long lists draw only the rows that are in sight."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def _port(self) -> str:
        note = Path(self._folder) / "DevToolsActivePort"
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if note.is_file() and "\n" in note.read_text():
                return note.read_text().splitlines()[0]
            time.sleep(0.1)
        raise TimeoutError("the browser did not start")

    def _target(self, port: str) -> str:
        import urllib.request

        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as reply:
            pages: list[dict[str, Any]] = json.load(reply)
        return next(str(page["webSocketDebuggerUrl"]) for page in pages if page["type"] == "page")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._child.terminate()
        try:
            self._child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its result; what arrives meanwhile is looked at."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._socket.recv(timeout=90))
            if told.get("method") == "Network.requestWillBeSent":
                host = urlsplit(told["params"]["request"]["url"]).hostname
                if host not in (None, "127.0.0.1", "localhost"):
                    self.outside.add(host)
            if told.get("id") == self._number:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']}")
                result: dict[str, Any] = told["result"]
                return result

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return found["result"].get("value")

    def open(self, url: str, until: str = "", seconds: float = 60.0) -> str:
        """Open a page and return its text once it holds `until`; the text as it is when the time is over."""
        self.call("Page.navigate", url=url)
        return self.wait(until, seconds)

    def wait(self, until: str, seconds: float = 60.0) -> str:
        """The page's text once it holds `until`, or as it is when the time is over."""
        end = time.monotonic() + seconds
        text = ""
        while time.monotonic() < end:
            text = str(self.run("document.body ? document.body.innerText : ''") or "")
            if until and until in text:
                break
            time.sleep(0.3)
        return text

    def picture(self, place: Path) -> int:
        """Write what is seen as PNG; returns its bytes."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        place.write_bytes(data)
        return len(data)
