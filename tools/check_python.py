"""Say in one line what is wrong where Python is too old; runs on any Python."""

import sys

if sys.version_info < (3, 12):  # noqa: UP036 - this is the check itself
    sys.exit(
        "bayesbias needs Python 3.12 or newer, and {} is {}.{}: install a newer one and name it, "
        "as in `make PYTHON=python3.12 demo`".format(sys.executable, *sys.version_info[:2])
    )
