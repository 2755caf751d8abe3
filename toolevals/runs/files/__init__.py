"""Read files of predictions and recorded runs, and write lists and failing cases as files."""
