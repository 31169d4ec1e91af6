"""One self-contained HTML file on a run."""
