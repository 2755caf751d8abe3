"""Under every filter a sum is what lies behind it, and page, chart, file and interface say the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.models import Example, Gold
from reports.cases.queries import listed_cases
from reports.filters.case_filters import CaseFilter, Effect, Filters, Split, read_filters
from reports.filters.choices import filter_choices
from reports.filters.matrix_cells import matrix_counts
from tests.fixtures.draws import draws
from tests.reports.building import Builder, Case, cases_of, count_anew
from tests.reports.reading import csv_rows, embedded
from toolevals.grading.metrics.confusion import NO_MAJORITY, SPECIAL, collapsed_class
from toolevals.grading.values import ToolAnnotations, ToolSpec
from toolevals.grading.values.verdicts import NONE
from toolevals.registry.models import ToolListEntry
from toolevals.registry.models import ToolSpec as StoredSpec
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.aggregates.read_cases import turns_write
from toolevals.runs.models import AlignedPair, CaseGrade, CaseTag, Grading, Transcript
from toolevals.workspace.models import Role, User
from toolevals.workspace.projects.services import member_set, project_create

pytestmark = pytest.mark.django_db
AGAIN = draws(25)
SLUGS = count()
TOOLS = ["shop.get", "shop.pay", "crm__find", "crm__list", "plain"]
NAMES = st.sampled_from([*TOOLS, NONE])
READS = {"shop.get": True, "shop.pay": False, "crm__find": True}
CASES = st.builds(
    Case,
    NAMES,
    NAMES,
    bucket=st.sampled_from(["", "selection"]),
    difficulty=st.sampled_from(["", "hard"]),
    status=st.sampled_from(["scored", "scored", "scored", "errored"]),
    wrong_value=st.booleans(),
)
EXAMPLES = st.lists(st.lists(CASES, min_size=3, max_size=3), min_size=1, max_size=8)
DAYS = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]


def furnished(viewer: User, examples: list[list[Case]]) -> Grading:
    """Return a grading of three trials whose cases differ in everything that can be filtered by."""
    project = project_create(actor=None, slug=f"place-{next(SLUGS)}", name="Place")
    member_set(project=project, actor=None, user=viewer, role=Role.VIEWER)
    grading = Builder(project).tried(examples, trials=3)
    turns_write(grading.run)
    annotate(grading)
    transcripts = list(
        Transcript.objects.filter(run=grading.run).select_related("entry__revision__example").order_by("entry", "trial")
    )
    for place, transcript in enumerate(transcripts):
        transcript.cost = None if place % 4 == 0 else 0.1 * place
        transcript.created_at = DAYS[place % 3]
        example, position = transcript.entry.revision.example, transcript.entry.position
        example.edge_case, example.category = ("", "typo")[position % 2], ("", "billing")[position % 3 == 0]
    Transcript.objects.bulk_update(transcripts, ["cost", "created_at"])
    told = {each.entry.revision.example_id: each.entry.revision.example for each in transcripts}
    Example.objects.bulk_update(told.values(), ["edge_case", "category"])
    for position, source in enumerate(("imported", "agreed")):
        golds = {each.entry.gold_id for each in transcripts if each.entry.position % 2 == position}
        Gold.objects.filter(pk__in=golds).update(source=source)
    CaseTag.objects.bulk_create(CaseTag(transcript=each, tag="odd") for each in transcripts[1::2])
    cases = list(CaseGrade.objects.filter(grading=grading, actual__in=TOOLS).select_related("transcript"))
    for case in cases:
        given = {"pair": 0, "path": "/id", "expected": None, "actual": case.transcript.trial, "kind": "same"}
        case.detail = case.detail | {"differences": [given]}
    CaseGrade.objects.bulk_update(cases, ["detail"])
    count_anew(grading)
    return grading


def annotate(grading: Grading) -> None:
    """Say of the offered tools what they do and what they cost."""
    for entry in ToolListEntry.objects.filter(tools__project=grading.run.project).select_related("spec"):
        name = entry.spec.name
        spec = ToolSpec(name, annotations=ToolAnnotations(read_only=READS.get(name)), cost=float(len(name)))
        StoredSpec.objects.filter(pk=entry.spec_id).update(document=spec.to_document(), digest=spec.digest)
    # Lists are kept in memory by digest, and these have just been reworded.
    tools_in.__globals__["_tools_by_digest"].cache_clear()


CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "bucket": st.just("selection"),
        "difficulty": st.just("hard"),
        "edge_case": st.just("typo"),
        "category": st.just("billing"),
        "gold": st.sampled_from(["imported", "agreed"]),
        "tag": st.just("WRONG_ANSWER"),
        "tagged": st.just("odd"),
        "arguments": st.sampled_from(["passed", "failed"]),
        "argument": st.just("/id"),
        "value": st.sampled_from(["0", "1"]),
        "tools": st.sampled_from(["read", "write", "unsaid"]),
        "turn": st.sampled_from(["1", "2"]),
        "trial": st.sampled_from(["1", "2"]),
        "since": st.sampled_from(["2026-03-01", "2026-03-02"]),
        "until": st.sampled_from(["2026-03-02", "2026-03-03"]),
    },
)
COUNTED = st.fixed_dictionaries(
    {},
    optional={
        "view": st.sampled_from(list(View)),
        "unit": st.sampled_from(list(Unit)),
        "collapse": st.sampled_from(["shop.", "crm__,shop.", "*", "(writing tools)"]),
        "split": st.sampled_from(["arguments", "effect"]),
    },
)


def meets(case: CaseGrade, asked: dict[str, str]) -> bool:
    """Whether a case meets what is asked, decided from its rows one by one."""
    transcript, example = case.transcript, case.transcript.entry.revision.example
    effect = {True: Effect.READ, False: Effect.WRITE, None: Effect.UNSAID}[READS.get(case.expected)]
    day = transcript.created_at.date()
    differences = case.detail["differences"]
    checks = {
        "bucket": case.bucket == asked.get("bucket"),
        "difficulty": case.difficulty == asked.get("difficulty"),
        "edge_case": example.edge_case == asked.get("edge_case"),
        "category": example.category == asked.get("category"),
        "gold": transcript.entry.gold.source == asked.get("gold"),
        "tag": case.tag == asked.get("tag"),
        "tagged": transcript.tags.filter(tag="odd").exists(),
        "arguments": case.arguments == asked.get("arguments"),
        "argument": any(each["path"] == "/id" for each in differences),
        "value": "argument" not in asked or [str(each["actual"]) for each in differences] == [asked.get("value")],
        "tools": case.expected in TOOLS and effect == asked.get("tools"),
        "turn": asked.get("turn") == "1",
        "trial": str(transcript.trial + 1) == asked.get("trial"),
        "since": day >= date.fromisoformat(asked.get("since", "2026-01-01")),
        "until": day <= date.fromisoformat(asked.get("until", "2027-01-01")),
    }
    return all(checks[name] for name in asked)


def expected_counts(grading: Grading, asked: dict[str, str], filters: Filters) -> Counter[tuple[str, str]]:
    """Count again, example by example. Every case here has one pair, so the three views are one."""
    found: Counter[tuple[str, str]] = Counter()
    cases = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry", "transcript__trial")
    by_example: dict[Any, list[CaseGrade]] = {}
    for case in cases.select_related("transcript__entry__revision__example", "transcript__entry__gold"):
        if case.expected:
            by_example.setdefault(case.transcript.entry_id, []).append(case)
    for trials in by_example.values():
        shown = [(case, (case.expected, case.actual)) for case in trials]
        if filters.unit is Unit.MAJORITY:
            cell, most = Counter(cell for _, cell in shown).most_common(1)[0]
            if 2 * most > len(shown):
                shown = [next(each for each in shown if each[1] == cell)]
            else:
                shown = [(trials[0], (trials[0].expected, NO_MAJORITY))]
        for case, (expected, actual) in shown:
            if meets(case, asked):
                found[stands_in(expected, "", filters), stands_in(actual, case.arguments, filters)] += 1
    return found


def stands_in(name: str, arguments: str, filters: Filters) -> str:
    """Return the class of a tool, folded and divided, by hand; of what was called with the verdict on arguments."""
    found = collapsed_class(name, filters.collapse)
    if filters.split is Split.NOTHING or name in SPECIAL:
        return found
    if filters.split is Split.ARGUMENTS:
        verdicts = {"passed": "right", "failed": "wrong", "unscored": "unscored", "errored": "errored"}
        return f"{found} · {verdicts[arguments]}" if arguments else found
    effect, whole = {
        True: ("read", "(read-only tools)"),
        False: ("write", "(writing tools)"),
        None: ("unsaid", "(tools with unknown effect)"),
    }[READS.get(name)]
    return whole if {whole, "*"}.intersection(filters.collapse) else f"{found} · {effect}"


@AGAIN
@given(examples=EXAMPLES, asked=CONDITIONS, counted=COUNTED)
def test_every_filter_alike_on_matrix_cells_lists_and_files(get, viewer, examples, asked, counted):
    grading = furnished(viewer, examples)
    query = asked | counted
    filters = read_filters(query)
    wanted = expected_counts(grading, asked, filters)
    assert matrix_counts(grading, filters) == wanted

    api = get("api:matrix", grading, measure="cost", **query).json()
    assert {(cell["expected"], cell["actual"]): cell["count"] for cell in api["cells"]} == wanted
    assert api["total"] == wanted.total()
    rows = csv_rows(get("matrix-csv", grading, measure="cost", **query))
    assert [(row["expected"], row["actual"], row["count"], row["cost"], row["costed"]) for row in rows] == [
        (
            cell["expected"],
            cell["actual"],
            str(cell["count"]),
            *("" if cell[name] is None else str(cell[name]) for name in ("cost", "costed")),
        )
        for cell in api["cells"]
    ]
    page = get("matrix", grading, measure="cost", **query)
    assert page.context["matrix"].counts == wanted
    assert {chip.title for chip in page.context["chips"]} == {*map(title, filters.conditions)}
    if wanted:
        document = embedded(page, "matrix-data")
        assert {*map(tuple, document["cells"])} == {
            (document["rows"].index(expected), document["columns"].index(actual)) for expected, actual in wanted
        }
    for (expected, actual), number in wanted.items():
        cases = listed_cases(grading, CaseFilter(filters, expected, actual))
        assert cases.count() == number
        listed = get("cases", grading, expected=expected, actual=actual, **query)
        assert listed.context["count"] == number
        assert len(csv_rows(get("cases-csv", grading, expected=expected, actual=actual, **query))) == number
        check_cost(api, expected, actual, cases, filters)


def title(name: str) -> str:
    from reports.filters.case_filters import TITLES

    return TITLES[name]


def check_cost(api: Any, expected: str, actual: str, cases: Any, filters: Filters) -> None:
    """A cell costs what its cases cost; aligned calls cost what their tools cost, and here nothing else is known."""
    cell = next(each for each in api["cells"] if (each["expected"], each["actual"]) == (expected, actual))
    if filters.view is View.ALIGNED:
        return
    said = [cost for cost in cases.values_list("transcript__cost", flat=True) if cost is not None]
    if Transcript.objects.filter(run=cases.first().grading.run, cost__isnull=False).exists():
        assert cell["costed"] == (len(said) or None)
        assert cell["cost"] == (pytest.approx(sum(said)) if said else None)


def test_aligned_calls_cost_what_their_tools_cost(get, viewer, build):
    grading = furnished(viewer, [[Case("plain", "shop.pay")] * 3, [Case("plain", NONE)] * 3])
    cells = get("api:matrix", grading, view="aligned", measure="cost").json()["cells"]
    assert {(cell["actual"], cell["cost"], cell["costed"]) for cell in cells} == {("shop.pay", 24.0, 3), (NONE, 0.0, 3)}


def test_a_case_stands_by_the_set_of_its_tools(get, build):
    grading = build.grading([Case("a", "a"), Case("a", "a"), Case("b", "c")])
    first, second, _ = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position")
    add = AlignedPair.objects.bulk_create
    add([AlignedPair(grading=grading, case=first, number=1, expected="b", actual="b", arguments="passed")])
    add([AlignedPair(grading=grading, case=first, number=2, expected="a", actual=NONE, arguments="unscored")])
    add([AlignedPair(grading=grading, case=second, number=1, expected=NONE, actual="c + d", arguments="unscored")])
    count_anew(grading)
    counts = matrix_counts(grading, Filters(view=View.SET))
    assert counts == {("a + b", "a + b"): 1, ("a", r"a + c \+ d"): 1, ("b", "c"): 1}
    for (expected, actual), number in counts.items():
        assert listed_cases(grading, CaseFilter(Filters(view=View.SET), expected, actual)).count() == number
        assert get("cell", grading, view="set", expected=expected, actual=actual).context["reading"].cell.count == 1


def test_a_tie_of_trials_is_no_majority(build):
    grading = build.tried([[Case("a", "a"), Case("a", "b"), Case("a", "b"), Case("a", "a")], [Case("a", "a")] * 4])
    majority = Filters(unit=Unit.MAJORITY)
    assert matrix_counts(grading, majority) == {("a", NO_MAJORITY): 1, ("a", "a"): 1}
    tied = listed_cases(grading, CaseFilter(majority, "a", NO_MAJORITY)).get()
    assert (tied.transcript.entry.position, tied.transcript.trial) == (0, 0)


def test_a_filter_is_offered_where_it_tells_cases_apart(viewer, build):
    plain = filter_choices(build.grading(cases_of({("a", "b"): 2})), Filters())
    assert {choice.name for choice in plain.more} == {"tag", "arguments"}
    assert not plain.has_days
    grading = furnished(viewer, [[Case("shop.get", "plain")] * 3, [Case("plain", "plain")] * 3])
    offered = {choice.name: [value for value, _ in choice.values] for choice in filter_choices(grading, Filters()).more}
    assert offered["gold"] == ["agreed", "imported"]
    assert offered["trial"] == ["1", "2", "3"]
    assert offered["tagged"] == ["odd"]
    assert offered["tools"] == ["read", "unsaid"]
    assert filter_choices(grading, Filters()).has_days
    set_here = filter_choices(grading, replace(Filters(), effect="writes"))
    assert next(choice for choice in set_here.more if choice.name == "effect").chosen == "writes"
