"""The datasheet of a dataset: what it holds, where that is from, who labelled it and how far they agree."""
