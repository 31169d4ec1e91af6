"""The tables of results, each described once, column by column, for the terminal and the page."""
