"""Write examples to files: `selection` reads them, a module for each format writes them, `formats` is the table."""

from labeling.exports.formats import FORMATS, ExportFormat, format_named
from labeling.exports.native import dataset_lines, version_lines
from labeling.exports.outcome import Outcome
from labeling.exports.selection import Selection

__all__ = [
    "FORMATS",
    "ExportFormat",
    "Outcome",
    "Selection",
    "dataset_lines",
    "format_named",
    "version_lines",
]
