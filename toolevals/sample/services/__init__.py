"""Load the sample once as a project of its own, or add it to another project step by step."""

from toolevals.sample.services.adding import DATASET, REGISTRY, SamplePart, gold_rows, sample_add
from toolevals.sample.services.loading import NAME, SLUG, is_loaded, sample_load

__all__ = [
    "DATASET",
    "NAME",
    "REGISTRY",
    "SLUG",
    "SamplePart",
    "gold_rows",
    "is_loaded",
    "sample_add",
    "sample_load",
]
