"""Second looks: examples whose gold the runs of several agents speak against."""
