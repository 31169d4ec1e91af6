"""A headless Chromium, asked over two pipes by the DevTools protocol; needs no package and no port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The browser reads commands from descriptor 3 and writes answers to descriptor 4.
_START = "import os, sys; a, b, *command = sys.argv[1:]; os.dup2(int(a), 3); os.dup2(int(b), 4); os.execvp(command[0], command)"
_FREE = 10  # descriptors from here on are neither 3 nor 4
_LOGIC = {"awaitPromise": True, "returnByValue": True}


def browser() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """One window of a headless browser; all that it asks of a network is kept in `requests`."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 900) -> None:
        import fcntl

        self.requests: list[str] = []
        self.errors: list[str] = []
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        command_out, command_in = os.pipe()
        answer_out, answer_in = os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, _FREE) for end in (command_out, answer_in)]
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        options += ["--no-first-run", "--disable-extensions", "--disable-background-networking"]
        options += ["--disable-component-update", "--hide-scrollbars"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, theirs), browser() or NAMES[0], *options,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=theirs, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (command_out, answer_in, *theirs):
            os.close(end)
        self._in, self._out = command_in, answer_out
        targets = self._send("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._in)
        os.close(self._out)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            block = os.read(self._out, 1 << 16)
            if not block:
                raise RuntimeError("the browser has ended")
            self._rest += block
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def _take(self, message: dict[str, Any]) -> None:
        """Keep what an event says of requests and errors."""
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))

    def _send(self, method: str, **params: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
            self._take(answer)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window a size in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", **size)

    def open(self, path: Path) -> None:
        """Open a local file, and wait until it is loaded."""
        self._send("Page.navigate", url=path.resolve().as_uri())
        while True:
            message = self._read()
            self._take(message)
            if message.get("method") == "Page.loadEventFired":
                return

    def run(self, code: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self._send("Runtime.evaluate", expression=code, **_LOGIC)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key, such as ``Tab`` or ``ArrowRight``."""
        codes = {"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, " ": 32, "Enter": 13}
        about = {
            "key": key,
            "code": "Space" if key == " " else key,
            "windowsVirtualKeyCode": codes[key],
        }
        if key in (" ", "Enter"):
            about["text"] = "\r" if key == "Enter" else key
        for kind in ("keyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, **about)

    def screenshot(self, path: Path) -> Path:
        """Save a picture of the whole page."""
        shot = self._send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def printed(self, path: Path) -> Path:
        """Save the page as it would be printed, a PDF."""
        pdf = self._send("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(pdf["data"]))
        return path
