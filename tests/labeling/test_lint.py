"""Lint: each rule finds what it should and nothing else; reports, jobs, and findings that are let be."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.lint.descriptions import descriptions_lint
from labeling.lint.findings import LISTED, RULES, Report
from labeling.lint.page import State, drawn, lines
from labeling.lint.services import finding_ignore, finding_restore, lint, lint_running, lint_start
from labeling.lint.texts import cosine, jaccard, resemblance, sketch, tf_idf, trigrams, words_in
from labeling.models import Dataset, LintReport
from labeling.tasks import lint as lint_task
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, row
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import ToolSpec
from toolevals.registry.services import registry_publish
from toolevals.workspace.models import User


def found(dataset: Dataset, rule: str) -> list[Any]:
    return [finding for finding in lint(dataset).findings if finding["rule"] == rule]


def said(text: str, external_id: str, **more: Any) -> Any:
    return read_example({"id": external_id, "input": {"messages": [{"role": "user", "content": text}]}, **more})


def described(**descriptions: str) -> dict[str, list[str]]:
    """Return the findings about tools that are offered together: rule -> sentences."""
    report = Report()
    descriptions_lint(report, [[ToolSpec(name, text) for name, text in descriptions.items()]])
    rules: dict[str, list[str]] = {}
    for finding in report.findings:
        rules.setdefault(finding["rule"], []).append(" ".join(finding["tools"]))
    return rules


def test_descriptions_that_open_alike() -> None:
    found = described(
        find_order="Search the shop for an order, when its id is known.",
        find_faq="Search the shop for an answer, when a rule is asked for.",
        cancel="When the customer asks to cancel.",
        refund="When the customer asks for money.",
    )
    assert found["shared_opening"] == ["find_faq find_order"]


def test_a_description_says_when_to_use_the_tool() -> None:
    found = described(a="Returns the weather of a city.", b="Use this when a parcel is late.", c="", d="Order lookup")
    assert found["no_trigger"] == ["a"]
    assert found["no_description"] == ["c", "d"]


def test_use_this_tool_to_says_nothing_of_when_and_three_such_are_found() -> None:
    found = described(
        status="Use this tool to get the status of an order.",
        history="Use this tool to list the orders of a customer.",
        refund="Use this tool to give money back.",
        cancel="Use this tool when the customer asks to cancel.",
        track="Use this when a parcel is late.",
    )
    assert found["shared_opening"] == ["history refund status"]
    assert found["no_trigger"] == ["history", "refund", "status"]


def test_descriptions_that_are_nearly_the_same_and_such_that_are_confusable() -> None:
    found = described(
        refund_order="Give the money of an order back to the customer.",
        return_order="Give the money of an order back to the customers.",
        order_status="Tell the state of one order by the id of the order.",
        order_history="Tell the state of all orders by the id of a customer, with the state of each order.",
        weather="Forecast of rain and wind at a place.",
    )
    assert found["same_description"] == ["refund_order return_order"]
    assert found["confusable"] == ["order_history order_status"]


def test_only_tools_that_are_offered_together_are_compared() -> None:
    report = Report()
    text = "Give the money of an order back when the customer asks."
    descriptions_lint(report, [[ToolSpec("a", text)], [ToolSpec("b", text)]])
    assert report.findings == []
    assert report.tools == 2


def test_likeness_of_texts() -> None:
    assert words_in("getOrder_status: A-1 für Žofie") == ["get", "order", "status", "a", "1", "für", "žofie"]
    assert jaccard(trigrams("Same text."), trigrams("same, TEXT")) == 1
    assert jaccard(frozenset(), frozenset()) == 0
    one, same, other = tf_idf([["a", "b", "b"], ["b", "a", "b"], ["c"]])
    assert cosine(one, same) == pytest.approx(1)
    assert cosine(one, other) == 0
    text = words_in("one two three four five six seven eight nine ten")
    assert resemblance(sketch(text), sketch(text)) == 1
    assert resemblance(sketch(text), sketch([*text, "eleven"])) == pytest.approx(8 / 9)
    assert resemblance(sketch(text), sketch(words_in("something else altogether"))) == 0


def test_a_sketch_estimates_how_much_long_texts_share() -> None:
    words = [f"w{number}" for number in range(1000)]
    share = resemblance(sketch(words), sketch(words[:900]))
    assert share == pytest.approx(0.9, abs=0.15)


@pytest.mark.django_db
class TestGold:
    def test_gold_that_breaks_the_schema(self, dataset: Dataset) -> None:
        either = call(order="A-1")
        either["alternatives"][0]["ordered"][0]["arguments"] = {"order_id": {"one_of": ["A-1", 5]}}
        rows = [
            row("good", expectation=call()),
            row("bad", expectation=call(order=5)),
            row("part", expectation=either),
            row("unknown", expectation=call("track")),
        ]
        examples_import(dataset=dataset, actor=None, rows=rows)
        broken = found(dataset, "breaks_schema")
        assert [each["examples"][0]["external_id"] for each in broken] == ["bad", "unknown"]
        assert "/order_id" in broken[0]["sentence"]
        assert [each["examples"][0]["external_id"] for each in found(dataset, "breaks_schema_in_part")] == ["part"]

    def test_gold_that_the_newest_version_no_longer_admits(self, dataset: Dataset) -> None:
        examples_import(
            dataset=dataset,
            actor=None,
            rows=[row("kept", expectation=call()), row("gone", expectation=call("cancel_order"))],
        )
        assert found(dataset, "not_admitted") == []
        assert dataset.default_tools is not None
        registry_publish(registry=dataset.default_tools.registry, actor=None, document=SHOP_TOOLS[:1])
        gone = found(dataset, "not_admitted")
        assert [each["examples"][0]["external_id"] for each in gone] == ["gone"]
        assert "shop@2" in gone[0]["sentence"]

    def test_what_an_agent_that_does_nothing_passes(self, dataset: Dataset) -> None:
        free = {"kind": "calls", "alternatives": [{"disallowed": [{"tool": "cancel_order"}]}]}
        rows = [
            row("none", expectation=NO_CALL),
            row("free", expectation=free),
            row("call", expectation=call()),
            row("some", expectation={"kind": "some_call"}),
            row("open"),
        ]
        examples_import(dataset=dataset, actor=None, rows=rows)
        report = lint(dataset)
        assert (report.examples, report.gold, report.passed_idle, report.no_call) == (5, 4, 2, 1)
        assert [each["examples"][0]["external_id"] for each in found(dataset, "passes_idle")] == ["free"]

    def test_optional_arguments_that_no_gold_fills(self, dataset: Dataset) -> None:
        rows = [row(f"e-{number}", expectation=call()) for number in range(10)]
        examples_import(dataset=dataset, actor=None, rows=rows[:9])
        assert found(dataset, "never_filled") == []
        examples_import(dataset=dataset, actor=None, rows=rows[9:])
        assert [each["sentence"] for each in found(dataset, "never_filled")] == [
            "get_order is called by 10 gold labels, and none sets the optional argument verbose."
        ]


@pytest.mark.django_db
class TestInputs:
    LONG = "My parcel has not come and I would like to know where it is now"

    def test_the_same_input_twice(self, dataset: Dataset) -> None:
        rows = [said("Where is A-1?", "a"), said("where is  A-1", "b", expectation=call()), said("Where is A-2?", "c")]
        examples_import(dataset=dataset, actor=None, rows=rows)
        (twice,) = found(dataset, "duplicate_input")
        assert [each["external_id"] for each in twice["examples"]] == ["a", "b"]
        assert found(dataset, "two_golds") == []

    def test_the_same_input_with_other_gold(self, dataset: Dataset) -> None:
        again = call()
        again["alternatives"] *= 2
        rows = [
            said("Where is A-1?", "a", expectation=call()),
            said("Where is A-1?", "b", expectation=call("cancel_order")),
            said("And A-2?", "c", expectation=call()),
            said("And A-2?", "d", expectation=again),
        ]
        examples_import(dataset=dataset, actor=None, rows=rows)
        (two,) = found(dataset, "two_golds")
        assert [each["external_id"] for each in two["examples"]] == ["a", "b"]
        # Put in another way, but meaning the same.
        (same,) = found(dataset, "duplicate_input")
        assert [each["external_id"] for each in same["examples"]] == ["c", "d"]

    def test_with_other_tools_it_is_another_input(self, dataset: Dataset) -> None:
        rows = [said("Where is A-1?", "a"), said("Where is A-1?", "b", tools=SHOP_TOOLS[:1])]
        examples_import(dataset=dataset, actor=None, rows=rows)
        assert found(dataset, "duplicate_input") == []

    def test_nearly_the_same_input(self, dataset: Dataset) -> None:
        rows = [
            said(self.LONG, "a"),
            said(f"{self.LONG} please", "b"),
            said("Something else that is long enough to tell", "c"),
        ]
        examples_import(dataset=dataset, actor=None, rows=rows)
        (near,) = found(dataset, "near_duplicate_input")
        assert [each["external_id"] for each in near["examples"]] == ["a", "b"]


@pytest.mark.django_db
class TestReports:
    def test_small_datasets_are_linted_at_once_and_large_ones_in_a_job(
        self, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        examples_import(dataset=dataset, actor=None, rows=[row("bad", expectation=call(order=5))])
        assert lint_start(dataset=dataset, actor=None) is None
        at_once = LintReport.objects.get().document
        monkeypatch.setattr("labeling.lint.services.LINTED_AT_ONCE", 0)
        job = lint_start(dataset=dataset, actor=None)
        assert job is not None
        assert lint_start(dataset=dataset, actor=None) == job == lint_running(dataset)
        lint_task(str(job.batches.get().pk))
        assert lint_running(dataset) is None
        report = LintReport.objects.latest("id")
        assert (report.job, report.document) == (job, at_once)

    def test_what_is_let_be_stays_so_in_the_next_report(self, dataset: Dataset, ann: User) -> None:
        examples_import(dataset=dataset, actor=None, rows=[row("bad", expectation=call(order=5))])
        lint_start(dataset=dataset, actor=None)
        key = next(
            each["key"] for each in LintReport.objects.get().document["findings"] if each["rule"] == "breaks_schema"
        )
        with pytest.raises(InvalidAct):
            finding_ignore(dataset=dataset, actor=ann, key=key, reason=" ")
        with pytest.raises(InvalidAct):
            finding_ignore(dataset=dataset, actor=ann, key="nothing", reason="so")
        finding_ignore(dataset=dataset, actor=ann, key=key, reason="A test of the tool's own check.")
        lint_start(dataset=dataset, actor=None)
        document = LintReport.objects.latest("id").document
        shown = drawn(document, State())
        assert key not in [finding["key"] for finding in shown.findings]
        assert shown.ignored == 1
        (let_be,) = drawn(document, State(ignored=True)).findings
        assert let_be["ignored"]["reason"] == "A test of the tool's own check."
        assert [line[6] for line in lines(document, State(ignored=True))] == ["A test of the tool's own check."]
        finding_restore(dataset=dataset, actor=ann, key=key)
        assert drawn(LintReport.objects.latest("id").document, State()).ignored == 0
        with pytest.raises(InvalidAct):
            finding_restore(dataset=dataset, actor=ann, key=key)


def test_many_findings_of_a_rule_are_counted_and_the_first_listed() -> None:
    report = Report()
    for number in range(LISTED + 5):
        report.add("no_trigger", f"{number}", about=[number], tools=[str(number)])
    shown = drawn({**report.to_document(), "ignored": {}}, State(rule="no_trigger", page=2))
    assert [(each.rule, each.count, each.more) for each in shown.rules] == [(RULES["no_trigger"], LISTED + 5, 5)]
    assert (shown.found, shown.unlisted, shown.pages, len(shown.findings)) == (LISTED, 5, 4, 50)
