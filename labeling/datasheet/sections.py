"""Write a datasheet in words: sections of questions with answers and tables, for the page and the Markdown.

The headings follow T. Gebru et al., "Datasheets for Datasets", Communications of the ACM 64 (2021), as far as the
application knows answers. Numbers lead to the pages behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from labeling.datasheet.values import Datasheet, Labelling, LintSummary, Values
from labeling.models import Dataset, DatasetVersion
from toolevals.grading.metrics.rates import Estimate
from toolevals.presentation.numbers import count, percent, span
from toolevals.workspace.models import Role

NOT_RECORDED = "not recorded"
SHARE = "Share, %"


_OF_VERSION = frozenset({"version-examples", "version-export", "version-changes"})
# Pages that not every member may open: a number leads there for those who may.
_NEEDED = {"proposals": Role.ADJUDICATOR, "adjudicate": Role.ADJUDICATOR}
SOURCES = {
    "agreed": "agreed: labels mean the same",
    "elsewhere": "elsewhere: imported labels among those that mean the same; if they were blind is not known",
    "adjudicated": "adjudicated: a person decided",
    "second_look": "second look: a person decided, after a reviewer had seen an agent's proposal",
    "single": "single: one label was wanted",
    "imported": "imported with the example",
    "restored": "restored: earlier gold",
}
OVERLAPS = {0: "none", 1: "one", 5: "five or more"}
FORMATS = "native JSON Lines, CSV, BFCL, OpenAI chat, LangSmith"


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


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses for one reader; `base` stands before each, where they leave the application."""

    dataset: Dataset
    version: DatasetVersion | None
    role: Role
    base: str = ""

    def page(self, name: str) -> str:
        """Return the address of a page of labelling; "" where this reader may not open it."""
        if self.role < _NEEDED.get(name, Role.VIEWER):
            return ""
        arguments = [] if name == "adjudicate" else [self.dataset.slug]
        if name in _OF_VERSION and self.version is not None:
            arguments.append(str(self.version.number))
        return self._address(f"labeling:{name}", *arguments)

    def examples(self, field: str, value: str) -> str:
        """Return the list of the examples with a value; of a frozen version, its own list.

        `field`: a stratum, `source` of the gold, `tool` for what gold calls; `status` of now, `changed` of a version.
        """
        if not value:
            return ""
        if self.version is not None:
            return f"{self.page('version-examples')}?{urlencode({field: value})}"
        query = {"covers": "expected", "tool": value} if field == "tool" else {field: value}
        return f"{self.page('dataset')}?{urlencode(query)}"

    def guideline(self, version: int) -> str:
        """Return one wording of the guideline."""
        return f"{self.page('guideline')}?{urlencode({'version': version})}"

    def lint(self, rule: str) -> str:
        """Return the findings of one rule."""
        return f"{self.page('lint')}?{urlencode({'rule': rule})}"

    def job(self, pk: str) -> str:
        """Return the page of an import."""
        return self._address("workspace:job", pk)

    def tools(self) -> str:
        """Return the registry version that the dataset offers by default."""
        tools = self.dataset.default_tools
        return self._address("registry:version", tools.registry.slug, tools.number) if tools else ""

    def _address(self, name: str, *arguments: str | int) -> str:
        return self.base + reverse(name, args=[self.dataset.project.slug, *arguments])


def sections_of(sheet: Datasheet, links: Links) -> tuple[Section, ...]:
    """Return all sections, in the order of the paper."""
    return (
        motivation(sheet, links),
        composition(sheet, links),
        collection(sheet, links),
        labelling(sheet, links),
        uses(sheet, links),
        distribution(sheet, links),
        maintenance(sheet, links),
    )


def labelling(sheet: Datasheet, links: Links) -> Section:
    """Return who labelled, how, and how far they agree."""
    found, labels, agreement = sheet.composition, sheet.labelling, sheet.agreement
    facts = [
        fact("Labels", f"{count(labels.labels)} of examples that are resolved"),
        fact("People who labelled", *_people(labels)),
        *([fact("Labels given elsewhere", _elsewhere(labels))] if labels.elsewhere else ()),
        fact("Time on these labels", _hours(labels.seconds, labels.timed, labels.labels)),
        fact("Decisions by a third person", *_decisions(labels)),
        fact("Guideline", *_guidelines(labels, links)),
        fact("Agreement on the tools", *_agreement(sheet, links)),
        Fact("Krippendorff's alpha on the tools", (Cell(_estimate(agreement.alpha), links.page("agreement")),)),
    ]
    sources = tuple(
        (
            Cell(SOURCES.get(name, name)),
            number(n, links.examples("source", name)),
            Cell(share_of(n, found.gold), is_number=True),
        )
        for name, n in found.gold_sources.items()
    )
    # Frozen examples can be reopened, and of what is not resolved no one is told how many labels it has.
    without = max(0, found.gold - sum(labels.overlap.values()))
    overlap = {**labels.overlap} | ({0: without} if without else {})
    overlaps = tuple(
        (Cell(OVERLAPS.get(n, str(n))), number(overlap[n]), Cell(share_of(overlap[n], sum(overlap.values())), "", True))
        for n in sorted(overlap)
    )
    note = "95 % intervals: Wilson's for the share that agrees, a bootstrap over examples for alpha."
    tables = (
        Table("Where the gold comes from", ("Gold", "Examples", SHARE), sources),
        Table("Overlap", ("Labels of an example", "Examples", SHARE), overlaps, note),
    )
    return Section("labelling", "Labelling", tuple(facts), tuple(table for table in tables if table.rows))


def uses(sheet: Datasheet, links: Links) -> Section:
    """Return what is known to limit what the examples can tell."""
    lint = sheet.lint
    if lint is None:
        unknown = Cell("not linted yet", links.page("lint"))
        return Section("uses", "Uses and known limits", (Fact("An agent that does nothing passes", (unknown,)),))
    rows = tuple((Cell(one.title), Cell(one.severity), number(one.count, links.lint(one.rule))) for one in lint.rules)
    facts = [fact("An agent that does nothing passes", *_idle(lint, links))]
    if not rows:
        facts.append(fact("Findings of the lint", "none"))
    whole = f"Of the whole dataset as it was on {day(lint.at)}, {count(lint.examples)} examples"
    note = f"{whole}; ignored findings are left out."
    tables = (Table("Known limits", ("Finding", "Severity", "Count"), rows, note),) if rows else ()
    return Section("uses", "Uses and known limits", tuple(facts), tables)


def distribution(sheet: Datasheet, links: Links) -> Section:
    """Return under what terms and in what forms it can be had."""
    frozen = sheet.about.version is not None
    facts = (
        fact("Licence", NOT_RECORDED),
        fact(
            "Name in runs and exports", sheet.about.name if frozen else f"{sheet.about.slug}, once a version is frozen"
        ),
        fact(
            "File", Cell("JSON Lines", links.page("version-export")) if frozen else Cell(FORMATS, links.page("exports"))
        ),
    )
    return Section("distribution", "Distribution", facts)


def maintenance(sheet: Datasheet, links: Links) -> Section:
    """Return how it changes."""
    labels, replaced = sheet.labelling, sheet.composition.replaced
    facts = [
        fact("Frozen versions", number(sheet.about.versions, links.page("versions"))),
        fact(
            "Disputes of its gold",
            number(labels.disputes_open, links.page("adjudicate")),
            f" open, {count(labels.disputes_settled)} settled",
        ),
    ]
    if replaced is not None:
        facts.append(
            fact(
                "Changed since it was frozen",
                number(replaced, links.examples("changed", "1")),
                " examples have other content or gold now",
            )
        )
    if (sheet.about.version or 0) > 1:
        facts.append(fact("Changes since the version before", Cell("listed", links.page("version-changes"))))
    return Section("maintenance", "Maintenance", tuple(facts))


def _people(labels: Labelling) -> tuple[Cell, ...]:
    left = f", besides {count(labels.nameless)} labels by people who have left" if labels.nameless else ""
    return Cell(count(labels.people)), Cell(left)


def _elsewhere(labels: Labelling) -> str:
    people = f"{count(labels.people_elsewhere)} {'person' if labels.people_elsewhere == 1 else 'people'}"
    return f"{count(labels.elsewhere)} by {people}, counted apart: if they were blind is not known"


def _decisions(labels: Labelling) -> tuple[Cell, ...]:
    if not labels.adjudications:
        return (Cell("0"),)
    people = f", by {labels.adjudicators} {'person' if labels.adjudicators == 1 else 'people'}"
    return Cell(count(labels.adjudications)), Cell(f"{people}, {_time(labels.adjudication_seconds)}")


def _guidelines(labels: Labelling, links: Links) -> tuple[Cell, ...]:
    parts: list[Cell] = []
    for version, n in labels.guidelines.items():
        parts += [Cell(", ")] if parts else []
        name = Cell(f"version {version}", links.guideline(version)) if version else Cell("without one")
        parts += [name, Cell(f" ({count(n)} label{'' if n == 1 else 's'})")]
    return tuple(parts) or (Cell("no label was given"),)


def _agreement(sheet: Datasheet, links: Links) -> tuple[Cell, ...]:
    agreement = sheet.agreement
    said = agreement.percent
    if said.value is None:
        return (Cell(said.reason),)
    interval = f" ({span(said.interval.low, said.interval.high)})" if said.interval else ""
    of = f" of {count(agreement.sampled)} examples with two labels or more"
    if agreement.sampled < agreement.units:
        of = f" of a random {count(agreement.sampled)} of the {count(agreement.units)} examples with two labels or more"
    return Cell(f"{percent(said.value)} %{interval}", links.page("agreement")), Cell(of)


def _idle(lint: LintSummary, links: Links) -> tuple[Cell, ...]:
    passed = lint.passed_idle
    if passed.value is None or passed.interval is None:
        return (Cell("nothing to pass: there is no gold", links.page("lint")),)
    interval = f" {percent(passed.value)} % ({span(passed.interval.low, passed.interval.high)})"
    counted = f" of {count(lint.gold)} with gold, {interval.strip()}: compare every score with this"
    return Cell(count(lint.passed_idle_count), links.page("lint")), Cell(counted)


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return estimate.reason
    interval = estimate.interval
    return f"{estimate.value:.2f}" + (f" ({interval.low:.2f} to {interval.high:.2f})" if interval else "")


def _hours(seconds: float, timed: int, labels: int) -> str:
    if not timed:
        return NOT_RECORDED
    return f"{_time(seconds)}, {count(timed)} of {count(labels)} labels timed"


def _time(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.0f} minutes"
