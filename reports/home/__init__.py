"""Make a project's first page: the newest run's quality and confusions, the gold's soundness, labelling's progress."""
