"""Gathers the formats of evaluation files in the order in which a file is tried against them."""

from __future__ import annotations

from collections.abc import Iterator

from toolevals.grading.files.evaluation_files.dataset_formats import DATASETS
from toolevals.grading.files.evaluation_files.entry import Detected, FileFormat
from toolevals.grading.files.evaluation_files.evaluator_formats import EVALUATORS
from toolevals.grading.files.evaluation_files.recorded_formats import BATCHES, RECORDED
from toolevals.grading.files.evaluation_files.service_formats import SERVICES
from toolevals.grading.files.evaluation_files.unknown_files import unknown_words
from toolevals.grading.files.example_files import LINE_KEYS, TITLES
from toolevals.grading.values.problems import InvalidDocument

FORMATS: dict[str, FileFormat] = {each.name: each for each in (*SERVICES, *EVALUATORS, *RECORDED, *DATASETS, *BATCHES)}


def detected(document: object, *, is_table: bool = False) -> Detected:
    """Return the format of a document. Raises InvalidDocument that names what it has and the nearest known format."""
    for each in FORMATS.values():
        if (each.tables or not is_table) and (evidence := each.detect(document)) is not None:
            return Detected(each, evidence)
    raise InvalidDocument.at("", f"has an unknown format: {unknown_words(document, known_formats())}")


def format_named(name: str) -> FileFormat:
    """Return a format by its name. Raises InvalidDocument."""
    if name not in FORMATS:
        raise InvalidDocument.at("", f"{name} is not a format: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def known_formats() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the title of each format of examples and predictions with the keys that make it."""
    for name, keys in LINE_KEYS.items():
        yield TITLES[name], keys
    for each in FORMATS.values():
        yield each.title, each.keys
