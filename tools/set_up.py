"""Make a virtual environment and install into it; where that fails, say why in one line.

Usage: set_up.py FOLDER CONSTRAINTS REQUIREMENT... - what pip is given after the constraints.
"""

import errno
import os
import subprocess
import sys
from pathlib import Path

# What pip and the operating system print, and what it means for who reads it.
NO_ROOM = ("no space left on device", "disk quota exceeded", "[errno 28]", "not enough space")
NO_NETWORK = (
    "failed to establish a new connection",
    "newconnectionerror",
    "nameresolutionerror",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "connecttimeouterror",
    "connection refused",
    "connection timed out",
    "proxyerror",
)
NO_VENV = ("ensurepip is not available", "no module named venv", "no module named 'ensurepip'")


def reason(output: str, folder: Path) -> str:
    """Return one line on why an installation failed, from all that it printed."""
    said = output.lower()
    if any(sign in said for sign in NO_ROOM):
        return f"no room on the disk of {folder.resolve()}: free some (the environment takes about 2 GB), then run make again"
    if any(sign in said for sign in NO_NETWORK):
        return "the package index cannot be reached: pip needs a network (or a mirror, see `pip config`), then run make again"
    if any(sign in said for sign in NO_VENV):
        return f"{sys.executable} cannot make virtual environments: install its venv module (Debian: python3-venv)"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [
        line for line in lines if line.startswith("ERROR: ")
    ]  # "error: ..." stands above and says less
    return "the installation failed: " + ([*errors, *lines, "no reason was given"][0])


def run(*command: str) -> str | None:
    """Run a command and say what pip does; None where it went well, else all that it printed."""
    said, downloading = [], False
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if line.startswith("Collecting ") and not downloading:
                downloading = True
                print("  Downloading packages ...", flush=True)
            elif line.startswith("Installing collected packages"):
                print(f"  Installing {line.count(',') + 1} packages ...", flush=True)
    return None if process.returncode == 0 else "".join(said)


def main(folder: Path, constraints: str, *requirements: str) -> str | None:
    """Make and fill the environment; return what is wrong, or None."""
    try:
        python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        # What is there already is added to; where an earlier attempt was cut short, it is made anew.
        whole = python.exists() and run(str(python), "-m", "pip", "--version") is None
        print(f"Installing into {folder}. The first time this takes some minutes:", flush=True)
        failed = None if whole else run(sys.executable, "-m", "venv", "--clear", str(folder))
        if failed is None:
            failed = run(
                str(python), "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2",
                "-c", constraints, *requirements,
            )  # fmt: skip
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return f"the installation failed: {error}"
        failed = "no space left on device"
    return None if failed is None else reason(failed, folder)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
