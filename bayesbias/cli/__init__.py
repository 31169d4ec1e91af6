"""The command ``bayesbias``, one file a command."""
