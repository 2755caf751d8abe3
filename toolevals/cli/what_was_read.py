"""Which format a server found in a file, and what of the file it left out, as the report of a job says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.cli.output import note, say

# So many warnings are printed.
_MOST = 20


def say_what_was_read(report: Mapping[str, Any]) -> None:
    """Print the format with its reason, and the warnings: the first by line, then how many more there are."""
    if read_as := report.get("read_as"):
        say(read_as)
    for each in report.get("warnings", ())[:_MOST]:
        where = f" {each['pointer']}" if each["pointer"] else ""
        note(f"toolevals: line {each['line']}{where}: {each['message']}")
    if (rest := report.get("warning_count", 0) - _MOST) > 0:
        note(f"toolevals: {rest:,} more warnings")
