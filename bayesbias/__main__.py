"""``python -m bayesbias``: the command line."""

from bayesbias.cli.main import main

main()
