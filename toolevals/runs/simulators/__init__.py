"""Keep simulators, which stand behind the tools of a dataset, and make them answer."""
