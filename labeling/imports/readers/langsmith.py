"""Read LangSmith's datasets in JSON Lines: an example a line."""

from __future__ import annotations

from typing import Any

from labeling.imports.readers.settings import Settings
from toolevals.grading.files.evaluation_files.langsmith import langsmith_example
from toolevals.grading.reading.examples import ExampleRow


def langsmith_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one LangSmith example. Raises InvalidDocument."""
    return langsmith_example(value)
