"""``python -m bayesbias.cli``."""

from bayesbias.cli.main import main

main()
