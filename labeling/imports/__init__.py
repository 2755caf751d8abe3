"""Import examples from files: read lines in parts, stage them, and publish all together or not at all.

`parts` cuts a file into parts, `formats` reads a line, `staging` keeps what was read, `statements` is the SQL with
which `labeling.imports.publish_import` makes it the dataset's.
"""
