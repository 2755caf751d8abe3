"""Examples from files: lines are read in parts, staged, and published all together or not at all.

`lines` cuts a file into parts, `sources` reads a line, `staging` keeps what was read, `statements` is the SQL with
which `labeling.services.publishing` makes it the dataset's.
"""
