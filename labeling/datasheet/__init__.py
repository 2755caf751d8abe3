"""Make the datasheet of a dataset: its contents, their sources, who labelled it and how far they agree."""
