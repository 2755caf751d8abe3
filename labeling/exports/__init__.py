"""Write examples to files: `selection` reads them, a module for each format writes them, `formats` is the table."""

from labeling.exports.formats import FORMATS, ExportFormat, dataset_lines, format_named, version_lines
from labeling.exports.selection import Outcome, Selection

__all__ = [
    "FORMATS",
    "ExportFormat",
    "Outcome",
    "Selection",
    "dataset_lines",
    "format_named",
    "version_lines",
]
