"""Headless Chromium, and pages served from a folder to it."""

from __future__ import annotations

import contextlib
import functools
import http.server
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest


def chromium(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run headless Chromium with a profile of its own; skip the test where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(
            "Chromium is not installed (Debian's package `chromium`): pages are not opened in a browser"
        )
    quiet = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
    )
    alone = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        return subprocess.run(
            [program, *quiet, *alone, f"--user-data-dir={profile}", "--enable-logging=stderr", *arguments],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip


def console(stderr: str) -> list[str]:
    """Return what pages wrote to the console, errors among it."""
    return [line for line in stderr.splitlines() if ":CONSOLE" in line]


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Serve a folder; give the address, what was asked for, and what was posted."""
    asked: list[str] = []
    posted: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked, posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
