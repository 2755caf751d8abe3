"""Import examples from files: read lines in parts, stage them, and publish all together or not at all.

`lines` cuts a file into parts, `sources` reads a line, `staging` keeps what was read, `statements` is the SQL with
which `labeling.services.publishing` makes it the dataset's.
"""
