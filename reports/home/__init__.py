"""A project's first page: how good the newest run is, what it confuses, how sound the gold is, how labelling goes."""
