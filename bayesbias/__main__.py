"""``python -m bayesbias``: the command line."""

from bayesbias.cli.start import main

main()
