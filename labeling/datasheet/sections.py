"""Write a datasheet in words: sections of questions with answers and tables, for the page and the Markdown.

The headings follow T. Gebru et al., "Datasheets for Datasets", Communications of the ACM 64 (2021), as far as the
application knows answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from labeling.datasheet.links import Links
from labeling.datasheet.values import Datasheet, Values
from toolevals.presentation.numbers import count, percent

NOT_RECORDED = "not recorded"
SHARE = "Share, %"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and where it leads: the list or the page behind it."""

    text: str
    url: str = ""
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One question and its answer, in parts that stand after one another. Parts that lead nowhere are plain text."""

    title: str
    parts: tuple[Cell, ...]

    @property
    def is_missing(self) -> bool:
        """Return whether nothing is known."""
        return [part.text for part in self.parts] == [NOT_RECORDED]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns, as many cells in each."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def heads(self) -> list[Cell]:
        """The columns' names, those of numbers marked."""
        return [Cell(name, is_number=cell.is_number) for name, cell in zip(self.columns, self.rows[0], strict=True)]


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with its answers and tables."""

    key: str
    title: str
    facts: tuple[Fact, ...]
    tables: tuple[Table, ...] = ()


def number(value: int, url: str = "") -> Cell:
    """Return a count as a cell, which leads nowhere if nothing is behind it."""
    return Cell(count(value), url if value else "", is_number=True)


def fact(title: str, *parts: Cell | str) -> Fact:
    """Return a fact of parts; an empty one is not recorded."""
    cells = tuple(Cell(part) if isinstance(part, str) else part for part in parts)
    said = tuple(cell for cell in cells if cell.text)
    return Fact(title, said or (Cell(NOT_RECORDED),))


def day(moment: datetime | None) -> str:
    """Return a moment's day as "2 Mar 2026"."""
    return f"{moment.day} {moment:%b %Y}" if moment else ""


def share_of(part: int, whole: int) -> str:
    """Return a share of all examples in percent: it is counted, not estimated, and has no interval."""
    return percent(part / whole if whole else None)


def values_table(stratum: str, values: Values, whole: int, links: Links) -> Table:
    """Return the examples by value of a stratum; `tool` is the tool that the gold calls."""
    rows = [
        (
            Cell(one.value or "not said"),
            number(one.count, links.examples(stratum, one.value)),
            Cell(share_of(one.count, whole), is_number=True),
        )
        for one in values.listed
    ]
    if values.more:
        rest = values.more_examples
        rows.append((Cell(f"{count(values.more)} more"), number(rest), Cell(share_of(rest, whole), is_number=True)))
    column = "Tool" if stratum == "tool" else "Value"
    return Table(f"By {stratum.replace('_', ' ')}", (column, "Examples", SHARE), tuple(rows))


def motivation(sheet: Datasheet, links: Links) -> Section:
    """Return why the dataset was made, and what version this is."""
    about = sheet.about
    facts = [
        fact("Purpose", about.description),
        fact("Tools under test", Cell(about.default_tools, links.tools()) if about.default_tools else ""),
        fact("Dataset since", day(about.created_at)),
    ]
    if about.version is not None:
        by = f" by {about.frozen_by}" if about.frozen_by else ""
        facts += [
            fact("Version", Cell(str(about.version), links.page("versions")), f", frozen {day(about.frozen_at)}{by}"),
            fact("Note", about.note),
            fact("Tags", ", ".join(about.tags)),
        ]
    return Section("motivation", "Motivation", tuple(facts))


def composition(sheet: Datasheet, links: Links) -> Section:
    """Return what the examples are."""
    found = sheet.composition
    facts = [fact("Examples", *_examples(sheet, links))]
    none = links.examples("tool", "(none)")
    facts += [
        fact(
            "No call is right",
            number(found.no_call, none),
            f" of {count(found.gold)} with gold, {share_of(found.no_call, found.gold)} %",
        ),
        fact("Tools that gold calls", count(len(found.tools.listed) + found.tools.more)),
        fact("Different lists of tools offered", count(found.tool_lists)),
        fact("Personal or confidential data", NOT_RECORDED),
    ]
    if found.any_call:
        facts.insert(2, fact("Any call is right", number(found.any_call, links.examples("tool", "(any)"))))
    tables = [values_table(name, values, values.examples, links) for name, values in found.strata.items()]
    note = "An example counts for each tool that its gold calls."
    if found.unread:
        note += f" The gold of {count(found.unread)} examples has not been read yet; look again in a while."
    tools = values_table("tool", found.tools, found.gold, links)
    tables.append(Table(tools.title, tools.columns, tools.rows, note))
    return Section("composition", "Composition", tuple(facts), tuple(table for table in tables if table.rows))


def collection(sheet: Datasheet, links: Links) -> Section:
    """Return where the examples come from."""
    found, sources = sheet.composition, sheet.sources
    first, last = day(found.first_added), day(found.last_added)
    rows = tuple(
        (
            Cell(one.file),
            Cell(one.format),
            Cell(day(one.at)),
            number(one.added, links.job(one.job)) if one.added is not None else Cell("nothing", links.job(one.job)),
        )
        for one in sources.files
    )
    others = sources.without_file - sources.drafts
    facts = (
        fact("Added", first if first == last else f"{first} to {last}"),
        fact("Files imported", count(len(sources.files) + sources.more)),
        fact("Added without a file", f"{count(others)} time{'' if others == 1 else 's'}"),
        fact("Drafts of edge cases that a person accepted", number(sources.drafts, links.page("proposals"))),
        fact("Consent of the people in it", NOT_RECORDED),
    )
    until = "" if sheet.about.version is None else " before the version was frozen"
    note = f"What was imported into the dataset{until}. Added: new examples; what only changed others is not counted."
    if sources.more:
        note += f" {count(sources.more)} older files are not listed."
    tables = (Table("Files", ("File", "Format", "Imported", "Added"), rows, note),) if rows else ()
    return Section("collection", "Collection process", facts, tables)


def _examples(sheet: Datasheet, links: Links) -> Iterator[Cell]:
    facts = sheet.composition
    if sheet.about.version is not None:
        yield number(facts.examples, links.page("version-examples"))
        yield Cell(", all with gold")
        return
    yield number(facts.examples, links.page("dataset"))
    yield Cell(": ")
    yield number(facts.gold, links.examples("status", "resolved"))
    yield Cell(" with gold, ")
    yield number(facts.waiting, links.examples("status", "open"))
    yield Cell(" to label")
    for why, n in facts.set_aside.items():
        yield Cell(", ")
        yield number(n, links.examples("status", "set_aside"))
        yield Cell(f" set aside as {why.replace('_', ' ')}")
