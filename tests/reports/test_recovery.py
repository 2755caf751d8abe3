"""Test what agents did when tools failed: counts, their cells, what followed, and every episode behind them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.recovery.analysis import recovery_of, recovery_sentence
from reports.recovery.queries import EPISODES_A_PAGE
from reports.templatetags.report_numbers import named_tools
from tests.reports.reading import csv_rows, table, text
from tests.runs.building import example, uploaded_run, version_of
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.runs.aggregates.sums import KINDS
from toolevals.runs.models import CaseGrade, Episode, Grading, KeptSums, ToolAnswers

pytestmark = pytest.mark.django_db
DOWN, REFUSED, OK = "Error: 503 Service Unavailable", "Error: 400 bad date", "sent"
HOSTILE = "<script>alert(1)</script>=2+2"


def did(*calls: tuple[str, str, str], says: str = "I could do nothing for A-1.") -> list[dict[str, Any]]:
    """Return a conversation: each call is a tool, an order and what was answered."""
    messages: list[dict[str, Any]] = []
    for number, (tool, order, answer) in enumerate(calls):
        call = {"id": f"c{number}", "name": tool, "arguments": {"order_id": order}}
        messages += [
            {"role": "assistant", "calls": [call]},
            {"role": "tool", "call_id": f"c{number}", "content": answer},
        ]
    return [*messages, {"role": "assistant", "content": says}]


CONVERSATIONS = {
    "retried": did(("status", "A-1", DOWN), ("status", "A-1", OK), says="It was sent."),
    "corrected": did(("status", "A-1", REFUSED), ("status", "A-2", OK), says="It was sent."),
    "admitted": did(("refund", "A-1", REFUSED)),
    "hidden": did(("refund", "A-1", REFUSED), says="Your refund has been processed."),
    "hammered": did(("status", "A-1", REFUSED), ("status", "A-1", REFUSED)),
    "fine": did(("status", "A-1", OK), says="It was sent."),
    "hostile": did((HOSTILE, "A-1", f"Error: 404 {HOSTILE}")),
    "alone": [{"role": "assistant", "content": "How can I help?"}],
}


@pytest.fixture
def graded(project, run_jobs):
    """Return a function that uploads conversations, by the names of their examples, and returns their grading."""

    def do(conversations: dict[str, list[dict[str, Any]]]) -> Grading:
        version = version_of(project, [example(name, f"Do {name}", None) for name in conversations])
        rows = [{"id": name, "messages": messages} for name, messages in conversations.items()]
        run = uploaded_run(project, version, rows)
        run_jobs()
        return Grading.objects.select_related("run__project").get(run=run)

    return do


@pytest.fixture
def grading(graded):
    return graded(CONVERSATIONS)


def test_failures_are_counted_by_tool_and_class(get, grading):
    page = get("recovery", grading)
    assert table(page, "recovery-heat")[1:] == [
        [
            "status",
            "1 / 2 of status with 400 handled correctly",
            "",
            "1 / 1 of status with 5xx handled correctly",
            "67",
        ],
        ["refund", "1 / 2 of refund with 400 handled correctly", "", "", "50"],
        ["<script>a…rt(1)</script>=2+2", "", f"1 / 1 of {HOSTILE} with 404 handled correctly", "", "100"],
    ]
    found = page.context["recovery"]
    assert (found.answers, found.whole.errors, found.cases_with_errors, found.whole.episodes) == (10, 7, 6, 6)
    assert (found.whole.right, found.whole.recovered, found.whole.identical_retries) == (4, 2, 2)
    assert {row.tool: (row.whole.errors, row.answers) for row in found.tools} == {
        "status": (4, 7),
        "refund": (2, 2),
        HOSTILE: (1, 1),
    }
    # Seven conversations have an answer; of them all, and of each tool, errors are counted by example.
    assert (found.error_rate.examples, [row.error_rate.examples for row in found.tools]) == (7, [4, 2, 1])
    assert KeptSums.objects.filter(grading=grading).count() == len(KINDS)
    assert "After 6 failures of tools the agent did right 4 times." in text(page)
    assert "<script>alert" not in page.content.decode()


def test_what_followed_is_counted_and_explained(get, grading):
    rows = {row.reaction: row.tally for row in get("recovery", grading).context["recovery"].reactions}
    assert {name: (tally.right, tally.episodes) for name, tally in rows.items()} == {
        "corrected_retry": (1, 1),
        "identical_retry": (1, 1),
        "honest_failure": (2, 3),
        "fabricated_success": (0, 1),
    }


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({}, ["retried", "corrected", "admitted", "hidden", "hammered", "hostile"]),
        ({"tool": "refund"}, ["admitted", "hidden"]),
        ({"tool": "refund", "how": "wrong"}, ["hidden"]),
        ({"error_class": "5xx"}, ["retried"]),
        ({"reaction": "honest_failure", "how": "right"}, ["admitted", "hostile"]),
        ({"how": "again"}, ["retried", "hammered"]),
        ({"how": "recovered"}, ["retried", "corrected"]),
        ({"how": "nonsense", "tool": HOSTILE}, ["hostile"]),
        ({"tool": "no such tool"}, []),
    ],
)
def test_every_number_opens_its_episodes(get, grading, asked, names):
    rows = get("recovery", grading, **asked).context["page"].rows
    assert [row.external_id for row in rows] == names
    assert [row["external_id"] for row in csv_rows(get("episodes-csv", grading, **asked))] == names
    listed = get("api:episodes", grading, **asked).json()["results"]
    assert [row["case_id"] for row in listed] == [str(row.case) for row in rows]


def test_an_episode_says_what_the_tool_answered_and_what_was_wrong(get, grading):
    (row,) = get("recovery", grading, tool="refund", how="wrong").context["page"].rows
    assert row.excerpt == REFUSED
    assert "told the user that it had worked" in row.reason
    page = text(get("recovery", grading, tool="refund", how="wrong"))
    assert f"/cases/{row.case}/" in page
    assert "told the user that it had worked" in page
    assert "`" in row.reason
    assert '<span class="tool">refund</span> ' in page.split('<table class="table-te episodes">')[1]
    assert "`" not in page.split('<table class="table-te episodes">')[1].split("</table>")[0]


def test_one_right_reaction_of_several_came_once():
    kinds = [("a", "5xx", "honest_failure", score, 1, 0, 1, 1, 0) for score in (1.0, 0.0)]
    assert recovery_sentence(recovery_of(kinds, {"a": 2}, 0)).endswith("the agent did right once.")


@pytest.mark.parametrize(
    ("reason", "html"),
    [
        ("`refund` failed.", '<span class="tool">refund</span> failed.'),
        ("`<b>` and `x`", '<span class="tool">&lt;b&gt;</span> and <span class="tool">x</span>'),
        ("one ` alone & <i>", "one ` alone &amp; &lt;i&gt;"),
        ("", ""),
    ],
)
def test_names_in_a_reason_are_set_as_tools(reason, html):
    assert named_tools(reason) == html


def test_the_file_the_page_and_the_interface_agree(get, grading):
    rows = csv_rows(get("recovery-csv", grading))
    assert [(row["tool"], row["error_class"], row["episodes"], row["right"], row["tool_answers"]) for row in rows] == [
        ("status", "400", "2", "1", "7"),
        ("status", "5xx", "1", "1", "7"),
        ("refund", "400", "2", "1", "2"),
        (HOSTILE, "404", "1", "1", "1"),
    ]
    told = get("api:recovery", grading).json()
    assert told["error_rate"]["passed"] == sum(int(row["errors"]) for row in rows) == 7
    assert [
        (tool["tool"], each["error_class"], str(each["rate"]["total"]), str(each["rate"]["passed"]))
        for tool in told["tools"]
        for each in tool["error_classes"]
    ] == [(row["tool"], row["error_class"], row["episodes"], row["right"]) for row in rows]
    assert [row["reaction"] for row in told["reactions"]] == [
        "corrected_retry",
        "identical_retry",
        "honest_failure",
        "fabricated_success",
    ]


def test_lists_come_in_pages_and_cost_no_more_queries(get, graded, django_assert_max_num_queries):
    grading = graded({f"ex-{number}": CONVERSATIONS["admitted"] for number in range(EPISODES_A_PAGE + 2)})
    get("recovery", grading)
    with django_assert_max_num_queries(16):
        first = get("recovery", grading)
    assert len(first.context["page"].rows) == EPISODES_A_PAGE
    rest = get("recovery", grading, after=first.context["page"].more)
    assert [row.external_id for row in rest.context["page"].rows] == [
        f"ex-{EPISODES_A_PAGE}",
        f"ex-{EPISODES_A_PAGE + 1}",
    ]
    assert rest.context["page"].more is None


def test_without_a_failure_the_page_says_why_it_is_empty(get, graded):
    assert "No case contains a tool result" in text(get("recovery", graded({"alone": CONVERSATIONS["alone"]})))
    quiet = graded({"fine": CONVERSATIONS["fine"]})
    page = text(get("recovery", quiet))
    assert "No tool failed." in page
    assert 'Of <span class="num">1</span> answer of tools none was an error' in page


def test_a_grading_from_before_does_not_pretend_that_no_tool_failed(get, grading):
    Episode.objects.all().delete()
    ToolAnswers.objects.all().delete()
    assert "This grading has no recovery data." in text(get("recovery", grading))


def test_episodes_are_those_of_the_cases_documents(grading):
    for case in CaseGrade.objects.filter(grading=grading):
        told = case.detail.get("details", {}).get("recovery", {}).get("episodes", [])
        rows = list(Episode.objects.filter(case=case).order_by("number"))
        assert [(row.number, row.tool, row.reaction, row.score) for row in rows] == [
            (number, each["tool"], each["reaction"], each["score"]) for number, each in enumerate(told)
        ]


_kinds = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(sorted(ERROR_CLASSES)),
        st.sampled_from(sorted(REACTIONS)),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.integers(1, 9),
        st.integers(0, 1),
        st.integers(9, 20),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
    max_size=12,
    unique_by=lambda kind: kind[:4],
)


@given(_kinds)
def test_every_way_to_count_comes_to_the_same(kinds):
    found = recovery_of(kinds, {"a": 100}, 0)
    cells = [tally for row in found.tools for _, tally in row.cells if tally]
    for tallies in ([row.whole for row in found.tools], [row.tally for row in found.reactions], cells):
        for name in ("episodes", "right", "recovered", "bad_answers", "errors", "identical_retries"):
            assert sum(getattr(tally, name) for tally in tallies) == getattr(found.whole, name)
    assert found.whole.right <= found.whole.episodes == sum(kind[4] for kind in kinds)
    assert recovery_sentence(found).endswith(".")
