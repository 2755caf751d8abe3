"""Write the sections on labelling, use, distribution and maintenance of a datasheet."""

from __future__ import annotations

from labeling.datasheet.links import Links
from labeling.datasheet.sections import (
    NOT_RECORDED,
    SHARE,
    Cell,
    Fact,
    Section,
    Table,
    collection,
    composition,
    day,
    fact,
    motivation,
    number,
    share_of,
)
from labeling.datasheet.values import Datasheet, Labelling, LintSummary
from toolevals.grading.metrics.rates import Estimate
from toolevals.presentation.numbers import count, percent, span

SOURCES = {
    "agreed": "agreed: labels mean the same",
    "adjudicated": "adjudicated: a person decided",
    "second_look": "second look: a person decided, after a reviewer had seen an agent's proposal",
    "single": "single: one label was wanted",
    "imported": "imported with the example",
    "restored": "restored: earlier gold",
}
OVERLAPS = {0: "none", 1: "one", 5: "five or more"}
FORMATS = "native JSON Lines, CSV, BFCL, OpenAI chat, LangSmith"


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
