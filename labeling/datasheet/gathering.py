"""Read a datasheet with a fixed number of queries for any number of examples.

Examples and their labelling are counted in SQL, labels of what is resolved alone. The audit log tells the sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import CharField, Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Cast, Right

from labeling.agreement.cases import tool_said
from labeling.blindness import RESOLVED, is_resolved
from labeling.coverage.expected import ANY_CALL, NO_CALL
from labeling.coverage.index_gold_tools import entries_read, entries_unread, gold_in_force, gold_read, unread
from labeling.datasheet.values import (
    About,
    Composition,
    Datasheet,
    Labelling,
    LintCount,
    LintSummary,
    SourceFile,
    Sources,
    ToolAgreement,
    ValueCount,
    Values,
)
from labeling.examples.shown_strata import hidden_strata
from labeling.label.querysets import LabelQuerySet
from labeling.lint.page import State, drawn
from labeling.models import (
    Adjudication,
    Dataset,
    DatasetVersion,
    Dispute,
    Example,
    GoldTool,
    Label,
    LintReport,
    ProposalState,
    ProposedExample,
    Revision,
    ToolPart,
    VersionEntry,
)
from toolevals.grading.metrics.agreement import krippendorff_alpha, percent_agreement
from toolevals.grading.metrics.rates import Estimate, wilson
from toolevals.workspace.models import AuditEntry, Role

# What is compared while a page waits; of more examples a random sample of about so many is.
SAMPLE = 2_500
# The last digits of a revision's id are random: a sample is those below a bound, the same each time.
_DIGITS = 3
_ALL = 16**_DIGITS
_OF_ONE = ("revision", "slot__round", "reviewer")


# So many values of a stratum are listed, and so many tools.
MOST_VALUES = 20
MOST_TOOLS = 50
GOLD, SET_ASIDE = RESOLVED
# Examples with more labels are counted together with those that have so many.
MOST_OVERLAP = 5
# So many of the newest imports are listed.
MOST_FILES = 30
# So much gold is read, by tool, while a page waits.
READ_AT_ONCE = 2_000


def tool_agreement(scope: Scope, *, units: int) -> ToolAgreement:
    """Compare the labels of each example's last round; `units`: how many examples have two labels or more."""
    labels = _sampled(scope.labels(), units) if units else scope.labels().none()
    rounds: dict[Any, tuple[int, list[str]]] = {}
    for revision, number, answer, expectation in _said_first(labels):
        known, choices = rounds.get(revision, (0, []))
        if number > known:
            known, choices = number, []
            rounds[revision] = (known, choices)
        if number == known:
            choices.append(tool_said(answer, expectation))
    ratings = Counter(tuple(sorted(choices)) for _, choices in rounds.values() if len(choices) > 1)
    return ToolAgreement(
        units=units, sampled=ratings.total(), percent=percent_agreement(ratings), alpha=krippendorff_alpha(ratings)
    )


def _said_first(labels: LabelQuerySet) -> Iterator[tuple[Any, int, str, Any]]:
    """Yield round and answer of labels by revision; where one was changed, what its author handed in first."""
    changed = labels.filter(is_first=False).values("revision")
    rows = Label.objects.filter(revision__in=changed, is_first=True)
    firsts = {tuple(key): (answer, said) for *key, answer, said in rows.values_list(*_OF_ONE, "answer", "expectation")}
    every = labels.values_list(*_OF_ONE, "answer", "expectation", "is_first").order_by("pk")
    for revision, number, reviewer, answer, expectation, is_first in every:
        said = (answer, expectation)
        yield revision, number, *(said if is_first else firsts.get((revision, number, reviewer), said))


def _sampled(labels: LabelQuerySet, units: int) -> LabelQuerySet:
    if units <= 2 * SAMPLE:
        return labels
    bound = f"{_ALL * SAMPLE // units:0{_DIGITS}x}"
    sampled: LabelQuerySet = labels.annotate(tail=Right(Cast("revision", CharField()), _DIGITS)).filter(tail__lt=bound)
    return sampled


@dataclass(frozen=True, slots=True)
class Scope:
    """A dataset, and one of its versions where that is meant. Reads are in SQL, whatever the size."""

    dataset: Dataset
    version: DatasetVersion | None = None

    @property
    def until(self) -> datetime | None:
        """The moment that counts; None is now."""
        return self.version.created_at if self.version else None

    @property
    def rows(self) -> QuerySet[Any]:
        """One row an example; lookups begin with `example`, `revision` or `gold`."""
        if self.version is not None:
            return VersionEntry.objects.filter(version=self.version).order_by()
        return Example.objects.of_dataset(self.dataset).filter(current__isnull=False).order_by()

    def example(self, field: str) -> str:
        """Return the lookup of a field of the example from `rows`."""
        return f"revision__example__{field}" if self.version else field

    def revision(self, field: str) -> str:
        """Return the lookup of a field of the revision from `rows`."""
        return f"revision__{field}" if self.version else f"current__{field}"

    def gold(self, field: str) -> str:
        """Return the lookup of a field of the gold from `rows`."""
        return f"gold__{field}" if self.version else f"current__gold__{field}"

    def revisions(self) -> QuerySet[Any, Any]:
        """Return the ids of the revisions, for a subquery."""
        return self.rows.values(*["revision" if self.version else "current"])

    def labels(self) -> LabelQuerySet:
        """Return the labels that stood at the moment that counts, of what is resolved: nothing else may be counted.

        Those that were given elsewhere, blind or not, are apart.
        """
        return self._standing().filter(external_author="")

    def labels_elsewhere(self) -> LabelQuerySet:
        """Return the same of the labels that were given elsewhere."""
        return self._standing().exclude(external_author="")

    def _standing(self) -> LabelQuerySet:
        return Label.objects.filter(is_resolved(), revision__in=self.revisions()).standing(self.until).order_by()

    def tools(self) -> QuerySet[GoldTool]:
        """Return what the gold is about, as far as it was read."""
        rows: QuerySet[Any] = self.rows if self.version else gold_in_force(self.dataset).order_by()
        golds: QuerySet[Any, Any] = rows.values("gold")
        return GoldTool.objects.filter(part=ToolPart.EXPECTED, gold__in=golds).order_by()

    def unread(self) -> QuerySet[VersionEntry] | QuerySet[Revision]:
        """Return that whose gold was not read yet: it is not among `tools`."""
        return entries_unread(self.version) if self.version else unread(self.dataset)


def composition_of(scope: Scope, unread: int) -> Composition:
    """Count the examples by status, stratum, source of the gold and tool."""
    found = _Counts(scope)
    tools = dict(scope.tools().values_list("tool").annotate(n=Count("pk")))
    classes = {name: tools.pop(name, 0) for name in (NO_CALL, ANY_CALL)}
    return Composition(
        examples=found.examples,
        gold=found.gold,
        waiting=found.examples - found.gold - found.set_aside.total(),
        set_aside=dict(found.set_aside.most_common()),
        strata={name: _values(counts, MOST_VALUES) for name, counts in found.strata.items() if counts.keys() - {""}},
        tools=_values(Counter(tools), MOST_TOOLS),
        no_call=classes[NO_CALL],
        any_call=classes[ANY_CALL],
        unread=unread,
        tool_lists=scope.rows.aggregate(n=Count(scope.revision("tools"), distinct=True))["n"],
        gold_sources=dict(found.sources.most_common()),
        replaced=found.replaced if scope.version else None,
        first_added=found.first,
        last_added=found.last,
    )


class _Counts:
    """Sums over one grouped query: a group is all that a row says of strata, status and source."""

    def __init__(self, scope: Scope) -> None:
        self.examples = self.gold = self.replaced = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.set_aside: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.strata: dict[str, Counter[str]] = {name: Counter() for name in Example.STRATA}
        self._is_frozen = scope.version is not None
        hidden = hidden_strata(scope.dataset, Role.REVIEWER)
        for *values, state, why, source, count, replaced, first, last in _groups(scope):
            self.examples += count
            self.replaced += replaced
            self._add_gold(state, why, source, count)
            for name, value in zip(Example.STRATA, values, strict=True):
                # It is the same for every member: of what is still to label, only what reviewers see is counted.
                if self._is_frozen or state in RESOLVED or name not in hidden:
                    self.strata[name][value] += count
            self.first = min(filter(None, (self.first, first)), default=None)
            self.last = max(filter(None, (self.last, last)), default=None)

    def _add_gold(self, state: str, why: str, source: str | None, count: int) -> None:
        # A version keeps its gold, whatever became of it since.
        if source and (self._is_frozen or state == GOLD):
            self.gold += count
            self.sources[source] += count
        elif state == SET_ASIDE:
            self.set_aside[why] += count


def _groups(scope: Scope) -> Any:
    strata = [scope.example(name) for name in Example.STRATA]
    told = [*strata, scope.revision("resolution"), scope.revision("set_aside_as"), scope.gold("source")]
    # What is frozen and still in force: the example's current revision, with its gold.
    same = Q(revision=F("revision__example__current"), gold=F("revision__gold")) if scope.version else Q()
    created = scope.example("created_at")
    counted = scope.rows.values_list(*told).annotate(n=Count("pk"))
    return counted.annotate(
        replaced=Count("pk") - Count("pk", filter=same) if scope.version else Count("pk") - Count("pk"),
        first=Min(created),
        last=Max(created),
    )


def _values(counts: Counter[str], most: int) -> Values:
    """List the most frequent values, what is not said last; the names decide between equal ones."""
    said = sorted(((value, n) for value, n in counts.items() if value), key=lambda one: (-one[1], one[0]))
    listed = [ValueCount(value, n) for value, n in said[:most]]
    if counts[""]:
        listed.append(ValueCount("", counts[""]))
    return Values(tuple(listed), len(said[most:]), sum(n for _, n in said[most:]))


def labelling_of(scope: Scope) -> Labelling:
    """Count labels, people, hours, decisions and disputes."""
    labels = labelling_by_person(scope)
    adjudications = _of(scope, Adjudication.objects.filter(withdrawn_at=None)).aggregate(
        n=Count("pk"), people=Count("adjudicator", distinct=True), seconds=Sum("seconds")
    )
    disputes = _of(scope, Dispute.objects.all()).aggregate(
        open=Count("pk", filter=Q(settled_at=None)), settled=Count("pk", filter=Q(settled_at__isnull=False))
    )
    guidelines: Counter[int] = Counter()
    for _, guideline, n, _, _ in labels:
        guidelines[guideline] += n
    elsewhere = scope.labels_elsewhere().aggregate(n=Count("pk"), people=Count("external_author", distinct=True))
    return Labelling(
        labels=guidelines.total(),
        elsewhere=elsewhere["n"],
        people_elsewhere=elsewhere["people"],
        people=len({person for person, *_ in labels if person}),
        nameless=sum(n for person, _, n, _, _ in labels if not person),
        timed=sum(timed for *_, timed, _ in labels),
        seconds=sum(seconds or 0.0 for *_, seconds in labels),
        overlap=_overlap(scope),
        guidelines=dict(sorted(guidelines.items())),
        adjudications=adjudications["n"],
        adjudicators=adjudications["people"],
        adjudication_seconds=adjudications["seconds"] or 0.0,
        disputes_open=disputes["open"],
        disputes_settled=disputes["settled"],
    )


def labelling_by_person(scope: Scope) -> list[Any]:
    """Return a row for each person and guideline: labels, how many of them were timed, and their seconds."""
    counted = scope.labels().values_list("reviewer", "guideline").annotate(n=Count("pk"))
    return list(counted.annotate(timed=Count("pk", filter=Q(seconds__gt=0)), time=Sum("seconds")))


def _overlap(scope: Scope) -> dict[int, int]:
    rows = scope.labels().values("revision").annotate(n=Count("pk"))
    wanted = {f"of_{n}": Count("n", filter=Q(n=n)) for n in range(1, MOST_OVERLAP)}
    wanted[f"of_{MOST_OVERLAP}"] = Count("n", filter=Q(n__gte=MOST_OVERLAP))
    counts = rows.aggregate(**wanted)
    return {n: counts[f"of_{n}"] for n in range(1, MOST_OVERLAP + 1) if counts[f"of_{n}"]}


def _of(scope: Scope, rows: QuerySet[Any]) -> QuerySet[Any]:
    resolved = rows.filter(is_resolved(), revision__in=scope.revisions()).order_by()
    return resolved.filter(created_at__lte=scope.until) if scope.until and rows.model is Adjudication else resolved


def sources_of(scope: Scope) -> Sources:
    """Return what was imported into the dataset until the moment that counts, the newest first."""
    acts = AuditEntry.objects.filter(target_id=scope.dataset.pk).order_by("-id")
    drafts = ProposedExample.objects.filter(dataset=scope.dataset, state=ProposalState.ACCEPTED)
    if scope.until is not None:
        acts = acts.filter(at__lte=scope.until)
        drafts = drafts.filter(example__created_at__lte=scope.until)
    started = acts.filter(verb="import_start").values_list("detail", "at")
    listed = list(started[:MOST_FILES])
    # What the listed files began cannot have been published before the oldest of them.
    published = acts.filter(verb="import_publish", at__gte=listed[-1][1]) if listed else acts.none()
    added = {detail["job"]: detail["added"] for detail in published.values_list("detail", flat=True)}
    return Sources(
        files=tuple(
            SourceFile(detail["file"], detail["source"], at, detail["job"], added.get(detail["job"]))
            for detail, at in listed
        ),
        more=max(0, started.count() - MOST_FILES),
        without_file=acts.filter(verb="examples_import").count(),
        drafts=drafts.count(),
    )


def datasheet_of(dataset: Dataset, version: DatasetVersion | None = None) -> Datasheet:
    """Return the datasheet of a frozen version, or of what the dataset holds now.

    It is the same for every member of the project: of labels and disputes it counts those of what is resolved alone.
    """
    scope = Scope(dataset, version)
    unread = _read(scope)
    composition = composition_of(scope, unread)
    return Datasheet(
        about=_about(scope),
        composition=composition,
        sources=sources_of(scope),
        labelling=(labelling := labelling_of(scope)),
        agreement=tool_agreement(scope, units=sum(n for labels, n in labelling.overlap.items() if labels > 1)),
        lint=_lint(dataset),
    )


def _read(scope: Scope) -> int:
    """Read some of the gold that is new to the counts by tool; return how much is left."""
    number: int = scope.unread().count()
    if not number:
        return 0
    if scope.version is not None:
        entries_read(scope.version, READ_AT_ONCE)
        return max(0, number - READ_AT_ONCE)
    if number > READ_AT_ONCE:
        return number
    gold_read(scope.dataset)
    return 0


def _about(scope: Scope) -> About:
    dataset, version = scope.dataset, scope.version
    return About(
        slug=dataset.slug,
        title=dataset.name,
        description=dataset.description,
        created_at=dataset.created_at,
        default_tools=str(dataset.default_tools) if dataset.default_tools else "",
        version=version.number if version else None,
        note=version.note if version else "",
        tags=tuple(version.tags) if version else (),
        frozen_at=version.created_at if version else None,
        frozen_by=version.actor.name if version and version.actor else "",
        versions=dataset.versions.count(),
    )


def _lint(dataset: Dataset) -> LintSummary | None:
    report = LintReport.objects.filter(dataset=dataset).order_by("-id").first()
    if report is None:
        return None
    document = report.document
    passed, gold = document["passed_idle"], document["gold"]
    rules = drawn(document, State()).rules
    return LintSummary(
        at=report.created_at,
        examples=document["examples"],
        gold=gold,
        passed_idle=Estimate(passed / gold, wilson(passed, gold), gold) if gold else Estimate.undefined("no gold"),
        passed_idle_count=passed,
        rules=tuple(LintCount(one.rule.name, one.rule.severity, one.rule.title, one.count) for one in rules),
    )
