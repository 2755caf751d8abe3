"""The matrix page: what it shows, at any size, with any names, at a bounded cost."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.reports.building import Case, cases_of
from tests.reports.reading import embedded, table, text
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.models import Agent

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 8, ("a", "b"): 3, ("b", "b"): 5, ("b", NONE): 1, (NONE, NONE): 4, (NONE, "a"): 2}
HOSTILE = ["<script>alert(1)</script>", "=cmd()", "a b&c=d#e?f/g", "../../x", '"onmouseover="x', "ünï-测试", "x" * 200]


@pytest.fixture
def grading(build):
    return build.grading(cases_of(CELLS, bucket="selection"))


def test_it_opens_on_the_largest_confusion(get, grading):
    page = get("matrix", grading)
    assert page.status_code == 200
    html = text(page)
    assert "16 of 23" not in html
    assert "17 of 23" in html
    assert '<td class="e2 sel">' in html
    assert html.count('aria-current="true"') == 1
    assert "27.3 % (7.9 to 60.8)" in html
    assert "Does a." in html
    assert "Does b." in html


def test_a_tool_is_described_in_the_words_that_the_agent_was_given(get, grading, project):
    own = registry_create(project=project, actor=None, slug="own", name="Own wording")
    tools = [{"name": "b", "description": "When b is asked for.", "input_schema": {"type": "object"}}]
    Agent.objects.update(tools=registry_publish(registry=own, actor=None, document=tools))
    html = text(get("matrix", grading))
    assert "Does a." in html
    assert "When b is asked for." in html
    assert "Does b." not in html


def test_cells_carry_their_step_and_name_both_tools(get, grading):
    html = text(get("matrix", grading))
    assert '<td class="d1"><a href="?expected=a&amp;actual=a"' in html
    assert "expected a, called b</span>" in html


@pytest.mark.parametrize(("measure", "shown"), [("count", "3"), ("row", "27"), ("column", "38")])
def test_a_cell_shows_the_measure_that_is_asked_for(get, grading, measure, shown):
    row = table(get("matrix", grading, measure=measure, order="name"), "heat")[1]
    assert row[2].split(" ")[0] == shown


def test_the_diagonal_can_be_hidden_in_table_and_chart(get, grading):
    page = get("matrix", grading, diagonal="hide", order="name")
    assert table(page, "heat")[1][1] == ""
    document = embedded(page, "matrix-data")
    assert document["cells"]
    assert all(document["rows"][row] != document["columns"][column] for row, column in document["cells"])


def test_the_selected_cell_and_every_filter_are_in_the_address(get, grading):
    query = {"expected": "b", "actual": NONE, "bucket": "selection", "order": "support", "measure": "row"}
    html = text(get("matrix", grading, **query))
    assert "missed call" in html
    case_link = html.split('class="case-link"')[0].rsplit('href="', 1)[1]
    for name in ("expected=b", "actual=%28none%29", "bucket=selection", "order=support", "measure=row"):
        assert name in case_link


def test_the_pane_alone_is_what_the_page_holds(get, grading):
    page = get("matrix", grading, expected="a", actual="b").content.decode()
    pane = get("cell", grading, expected="a", actual="b").content.decode()
    assert pane.strip() in page


def test_cases_of_a_cell_come_a_page_at_a_time(get, build):
    grading = build.grading([Case("a", "b") for _ in range(45)])
    seen, after = [], ""
    for size in (20, 20, 5):
        reading = get("cell", grading, expected="a", actual="b", after=after).context["reading"]
        assert len(reading.cases) == size
        seen += [case.external_id for case in reading.cases]
        after = reading.more_after
    assert after == ""
    assert sorted(seen) == sorted(f"ex-{place}" for place in range(45))


def test_an_empty_cell_says_so(get, grading):
    assert "No cases in this cell." in text(get("cell", grading, expected="nothing", actual="like this"))


def test_hostile_names_do_no_harm(get, build):
    cells = {(one, other): 1 for one in HOSTILE for other in HOSTILE[:3]}
    grading = build.grading(cases_of(cells))
    for name in HOSTILE:
        page = get("matrix", grading, expected=name, actual=HOSTILE[0])
        html = page.content.decode()
        assert page.context["reading"].cell.count == 1
        assert "<script>alert" not in html
        assert '""onmouseover' not in html
    assert embedded(page, "matrix-data")["rows"] == list(page.context["matrix"].rows)


def test_a_matrix_without_confusions_says_so(get, build):
    html = text(get("matrix", build.grading(cases_of({("a", "a"): 3}))))
    assert "No confusion" in html
    assert "3 of 3" in html


@pytest.mark.parametrize("status", ["errored", "unscored"])
def test_cases_that_were_not_scored_have_no_place(get, build, status):
    page = get("matrix", build.grading([Case("a", "a", status=status)]))
    assert "No case matches these filters" in text(page)


def test_unknown_and_unreadable_calls_have_columns_and_no_rows(get, build):
    page = get("matrix", build.grading(cases_of({("a", UNKNOWN_TOOL): 2, ("a", UNPARSED): 1})))
    assert page.context["matrix"].rows == ("a",)
    assert page.context["matrix"].columns == ("a", UNKNOWN_TOOL, UNPARSED)
    assert page.context["reading"].mode == "hallucinated_tool"


MANY = {(f"tool_{place:03}", f"tool_{place:03}"): 1 for place in range(300)}


def test_of_three_hundred_classes_only_the_confused_ones_are_drawn(get, build):
    grading = build.grading(cases_of(MANY | {("tool_001", "tool_002"): 2}))
    page = get("matrix", grading)
    assert '<b class="num">298</b> classes that have no confusions are not drawn' in text(page)
    assert [row[0] for row in table(page, "heat")[1:-3]] == ["tool_001", "tool_002"]
    whole = get("matrix", grading, classes="all")
    assert len(embedded(whole, "matrix-data")["rows"]) == 300
    assert whole.content.decode().count("data-cell=") == 1


def test_three_hundred_confused_classes_become_a_list(get, build):
    cells = {(f"tool_{place:03}", f"tool_{(place + 1) % 300:03}"): 1 for place in range(300)}
    page = get("matrix", build.grading(cases_of(cells)))
    assert "The 200 largest of 300 confusions" in text(page)
    assert len(table(page, "confusions")) == 201
    assert len(page.content) < 300_000


def test_an_older_grading_is_marked(get, grading):
    from toolevals.runs.models import Grading, Run

    newer = Grading.objects.create(
        run=grading.run, number=2, dataset_version=grading.dataset_version, graders=[], finished_at=grading.finished_at
    )
    Run.objects.filter(pk=grading.run_id).update(grading=newer)
    page = get("matrix", grading, grading=1)
    assert "This is grading 1." in text(page)
    assert "grading=1" in page.context["query"]
    assert get("matrix", grading, grading=3).status_code == 404


def test_before_the_first_grading_it_says_so(get, build):
    version, _ = build.version([Case("a", "a")])
    run = build.run(version)
    for name in ("run", "matrix", "cases"):
        assert "Grading has not finished." in text(get(name, type("Ungraded", (), {"run": run})))
    for name in ("cell", "matrix-csv", "tools-csv", "cases-csv", "api:matrix"):
        assert get(name, type("Ungraded", (), {"run": run})).status_code == 404


def test_its_cost_does_not_grow_with_cases_or_classes(get, build, django_assert_max_num_queries):
    small = build.grading(cases_of(CELLS))
    large = build.grading(cases_of({(f"t{row}", f"t{column}"): 2 for row in range(20) for column in range(20)}))
    for grading in (small, large):
        get("matrix", grading)
        with django_assert_max_num_queries(14):
            assert get("matrix", grading).status_code == 200


def test_another_projects_run_is_not_there(get, grading, browser_of):
    address = reverse("reports:matrix", args=[grading.run.project.slug, grading.run.number + 1])
    assert browser_of.get(address).status_code == 404
