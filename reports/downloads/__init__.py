"""Send the files of a run: its tables as CSV, and everything about it as one zip."""
