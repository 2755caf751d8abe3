"""Writes a gate's result as the Markdown of a comment on a pull request: short, for a telephone, too.

Names come from datasets and tools: whatever they hold, they are shown as text, never as markup, and call no one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from toolevals.grading.gates.results import Check, CheckStatus, GateStatus
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import (
    Comparison,
    fewest_changed,
    smallest_detectable,
    smallest_detectable_mean,
)
from toolevals.grading.metrics.rates import Interval
from toolevals.presentation.gate_reports import ORDER, GateReport, examples, figure, interval, remarks
from toolevals.presentation.numbers import (
    amount,
    count,
    p_value,
    part_count,
    percent,
    points,
    short,
    signed_amount,
    span,
)

MOST_LINES: Final = 60
MARKS: Final[Mapping[CheckStatus | GateStatus, str]] = {
    "failed": "❌",
    "unanswered": "❔",
    "warned": "⚠️",
    "passed": "✅",
    "skipped": "➖",
}
ALPHA: Final = 0.05
_MOST_CHECKS, _MOST_PAIRS, _MOST_ROWS, _MOST_COLUMNS = 6, 5, 4, 6
# The longest texts, so that a comment is as short as a forge wants it, whatever is in it.
_LONGEST_NAME, _LONGEST_LABEL, _LONGEST_TEXT, _LONGEST_ADDRESS = 60, 14, 400, 1000


@dataclass(frozen=True, slots=True)
class LayerChange:
    """One rate in both runs, over the examples that both scored; `after` is the interval of the later one.

    The outcome decides and is tested alone; `p_holm` of the others is adjusted over them. `url` lists what moved.
    """

    name: str
    compared: Comparison
    after: Interval | None
    p_holm: float | None
    url: str = ""

    @property
    def decides(self) -> bool:
        return self.name == "outcome"


@dataclass(frozen=True, slots=True)
class CellChange:
    """The number of examples with this class expected and that one called, before and after."""

    expected: str
    actual: str
    before: float
    after: float
    url: str = ""

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class RunChanges:
    """The changes from the run before: layers, cells of the matrix of first calls, and what an example takes.

    `taken` are the means before and after by what is taken; `why_not` says why there is nothing to compare.
    """

    layers: Sequence[LayerChange] = ()
    cells: Sequence[CellChange] = ()
    taken: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    why_not: str = ""


def gate_markdown(report: GateReport, changes: RunChanges | None = None) -> str:
    """Return the comment: the sentence, the checks, the worst first, and what changed from the run before."""
    against = f", against {text(report.baseline)}" if report.baseline else ""
    lines = [f"### {MARKS[report.result.status]} {report.summary}", f"{text(report.subject)}{against}."]
    links = " · ".join(_link(text(words), url) for words, url in report.links.items())
    lines += ["", *([links, ""] if links else []), *_checks(report)]
    if changes is None:
        lines += ["", "No comparison: no baseline run was named."]
    elif changes.why_not or not changes.layers:
        lines += ["", f"No comparison: {text(changes.why_not or 'nothing was scored in both runs.')}"]
    else:
        lines += _changed(changes)
    return "\n".join(lines) + "\n"


def _changed(changes: RunChanges) -> Iterator[str]:
    first = changes.layers[0]
    yield from ("", f"**{_sentence(first)}**", "", "| layer | now % (95 %) | points | fixed / broken | p | before % |")
    yield "| - | -: | -: | -: | -: | -: |"
    yield from map(_layer, changes.layers)
    yield from ("", "p is after Holm’s correction over the layers; the outcome decides, and is tested alone.")
    moved = sorted((cell for cell in changes.cells if cell.difference), key=_by_size)
    pairs = [cell for cell in moved if cell.expected != cell.actual]
    if pairs:
        yield from _pairs(pairs)
        yield from _matrix(moved)
    else:
        yield from ("", "No pair of tools was confused more often or less often than before.")
    yield from ("", f"**What this size cannot show:** {_limits(first.compared)}")
    yield from ("", f"**An example took:** {_taken(changes.taken)}")


def _by_size(cell: CellChange) -> tuple[float, str, str]:
    return -abs(cell.difference), cell.expected, cell.actual


def _checks(report: GateReport) -> Iterator[str]:
    checks = sorted(report.result.checks, key=lambda check: ORDER.index(check.status))
    yield "| | check | figure (95 %) | required | counted | remarks |"
    yield "| - | - | -: | -: | -: | - |"
    for check in checks[:_MOST_CHECKS]:
        counted = figure(check) if check.interval is None else f"{figure(check)} ({interval(check)})"
        cells = MARKS[check.status], code(check.name), counted, text(check.bound), count(check.count), _remarks(check)
        yield f"| {' | '.join(cells)} |"
    if left := checks[_MOST_CHECKS:]:
        counts = ((status, sum(check.status == status for check in left)) for status in ORDER)
        yield from ("", f"Not shown: {', '.join(f'{number} {status}' for status, number in counts if number)}.")


def _remarks(check: Check) -> str:
    """Return why a check did not pass and what to know of it, of a failed one a sentence each: a page has the rest."""
    named, said = examples(check), remarks(check)
    if check.status == "passed":
        said = check.note
    elif check.status == "failed":
        said = " ".join(f"{words.split('. ')[0].removesuffix('.')}." for words in (check.reason, check.note) if words)
    return " ".join(filter(None, (text(said), f"Examples: {code(named, _LONGEST_TEXT)}" if named else "")))


def _sentence(layer: LayerChange) -> str:
    """Return whether what decides has changed, in the words of the comparison's page."""
    found = layer.compared
    now = f"{text(layer.name)} {percent(found.after)} %"
    if found.examples < FEWEST_EXAMPLES:
        return f"{_examples(found)} are too few to compare, at least {FEWEST_EXAMPLES} are needed: {now}."
    if not found.improved and not found.worsened:
        return f"No change: {now}, and every example has the same result as before."
    if layer.p_holm is None or layer.p_holm >= ALPHA or not found.difference:
        return f"No significant change: {now}, was {percent(found.before)} %."
    way = "better" if found.difference > 0 else "worse"
    return f"Significantly {way}: {now}, was {percent(found.before)} %."


def _layer(layer: LayerChange) -> str:
    found, known = layer.compared, layer.after
    now = f"**{percent(found.after)}**{f' ({span(known.low, known.high)})' if known else ''}"
    moved = _link(f"{count(found.improved)} / {count(found.worsened)}", layer.url)
    cells = text(layer.name), now, points(found.difference), moved, p_value(layer.p_holm), percent(found.before)
    return f"| {' | '.join(cells)} |"


def _pairs(pairs: Sequence[CellChange]) -> Iterator[str]:
    shown = pairs[:_MOST_PAIRS]
    more = f", {len(shown)} of {count(len(pairs))}" if len(pairs) > len(shown) else ""
    yield from (
        "",
        f"**Pairs fixed ▲ and broken ▼**{more}",
        "",
        "| | examples | expected, called as |",
        "| - | -: | - |",
    )
    for cell in shown:
        numbers = _link(f"{part_count(cell.before)} → {part_count(cell.after)}", cell.url)
        mark = "▲" if cell.difference < 0 else "▼"
        yield f"| {mark} | {numbers} | {code(cell.expected)} as {code(cell.actual)} |"


def _matrix(moved: Sequence[CellChange]) -> Iterator[str]:
    """Yield the part of the matrix that changed most, hidden until it is opened."""
    rows = list(dict.fromkeys(cell.expected for cell in moved))[:_MOST_ROWS]
    in_rows = [cell for cell in moved if cell.expected in rows]
    columns = list(dict.fromkeys(cell.actual for cell in in_rows))[:_MOST_COLUMNS]
    cells = {(cell.expected, cell.actual): cell for cell in in_rows if cell.actual in columns}
    more = f"; {count(len(moved) - len(cells))} more cells changed" if len(moved) > len(cells) else ""
    words = "What changed in the matrix: examples now less those before, more is better in bold"
    yield from ("", f"<details><summary>{words}{more}</summary>", "")
    yield f"| expected ↓ called → | {' | '.join(code(name, _LONGEST_LABEL) for name in columns)} |"
    yield f"| - |{' -: |' * len(columns)}"
    for row in rows:
        values = (_delta(cells.get((row, column))) for column in columns)
        yield f"| {code(row)} | {' | '.join(values)} |"
    yield from ("", "</details>")


def _delta(cell: CellChange | None) -> str:
    if cell is None:
        return ""
    said = signed_amount(cell.difference)
    return f"**{said}**" if cell.expected == cell.actual else said


def _limits(found: Comparison) -> str:
    """Return what so many examples cannot show of what decides."""
    fewest = fewest_changed(ALPHA)
    if found.examples < max(fewest, FEWEST_EXAMPLES):
        return f"anything, as {_examples(found)} are too few."
    if found.test != "mcnemar":
        words = f"in {_examples(found)}, a change of fewer than {fewest} of them"
        likely = smallest_detectable_mean(found.examples, found.spread or 0.0, alpha=ALPHA)
    else:
        words = f"in {_examples(found)}, a change of less than {percent(fewest / found.examples)} points"
        share = (found.improved + found.worsened) / found.examples
        likely = smallest_detectable(found.examples, share, alpha=ALPHA)
    if likely is None:
        return f"{words}."
    return f"{words}; one of less than {percent(likely)} points is missed more often than one time in five."


def _taken(taken: Mapping[str, tuple[float, float]]) -> str:
    said = [f"{text(name)} {amount(before)} → {amount(after)}" for name, (before, after) in taken.items()]
    return f"{', '.join(said)}." if said else "the runs do not both say what."


def _examples(found: Comparison) -> str:
    return f"{count(found.examples)} example{'' if found.examples == 1 else 's'}"


def _link(words: str, url: str) -> str:
    """Return words with a link; without one where there is no address, or one that is too long."""
    return f"[{words}]({_address(url)})" if url and len(url) <= _LONGEST_ADDRESS else words


def text(said: str, longest: int = _LONGEST_TEXT) -> str:
    """Return text in which nothing but letters, digits and plain marks stands for itself, and no one is mentioned."""
    return "".join(mark if mark.isalnum() or mark in " ,;%" else _entity(mark) for mark in short(said, longest))


def code(said: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name as code."""
    return f"<code>{text(said, longest)}</code>"


def _entity(mark: str) -> str:
    # A forge reads @name and #1 after it has read entities: what has no width keeps them apart.
    return f"&#{ord(mark)};{'&#8203;' if mark in '@#' else ''}" if mark.isprintable() else " "


def _address(url: str) -> str:
    return quote(url, safe="/:?&=%#@.,-_~")
