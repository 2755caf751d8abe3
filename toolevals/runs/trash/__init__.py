"""Tell what becomes of runs, datasets, registries and projects that are deleted.

It stands here because runs are what rests on datasets and registries.
"""
