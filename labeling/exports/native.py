"""Write examples as native JSON Lines: the full form of the example schema, one document a line.

Lines are put together from the text that is stored, keys in the order in which they were written, so that an export
streams at the speed of the database and an import of it gives the same text again.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from labeling.exports.outcome import Outcome
from labeling.exports.selection import Selection, ToolLists
from labeling.models import Dataset, DatasetVersion
from toolevals.grading.values.canonical import exact


def native_lines(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a line for every example, with its gold where there is any."""
    tools = _ToolTexts()
    for row in selection.rows():
        parts = [f'"id":{exact(row.external_id)}', f'"input":{row.input}', f'"tools":{tools[row.tools]}']
        if row.expectation is not None:
            parts += [f'"expectation":{row.expectation}', f'"gold_source":{exact(row.gold_source)}']
        if row.rationale:
            parts.append(f'"rationale":{exact(row.rationale)}')
        if row.decided_by:
            parts.append(f'"decided_by":{exact(row.decided_by)}')
        if row.strata:
            parts.append(f'"strata":{exact(row.strata)}')
        outcome.written += 1
        yield f"{{{','.join(parts)}}}\n".encode()


def dataset_lines(dataset: Dataset) -> Iterator[bytes]:
    """Yield every example as it is shown now, with the gold in force where there is any, in the order of import."""
    return native_lines(Selection(dataset), Outcome())


def version_lines(version: DatasetVersion) -> Iterator[bytes]:
    """Yield every example of a frozen version, with its frozen gold, in the version's order."""
    return native_lines(Selection(version.dataset, version), Outcome())


class _ToolTexts(dict[UUID, str]):
    """The text of tool lists, by id."""

    def __init__(self) -> None:
        super().__init__()
        self.specs = ToolLists()

    def __missing__(self, pk: UUID) -> str:
        if len(self) >= ToolLists.KEPT:
            self.clear()
        text = exact([spec.to_document() for spec in self.specs[pk]])
        self[pk] = text
        return text
