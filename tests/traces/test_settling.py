"""Traces are summed up once nothing has come for a while, and again when more comes."""

from __future__ import annotations

import json
from datetime import timedelta
from time import monotonic

import pytest

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from tests.fixtures.hostile_schemas import REFUSED
from tests.traces.promoting import promoted
from tests.traces.sending import TOOL, conversation, export, send, span
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import ToolSpec
from toolevals.traces.intake.retention import traces_forget
from toolevals.traces.models import SpanVerdict, ToolUse, Trace, TraceExample, TraceSettings
from toolevals.traces.reading import chunks
from toolevals.traces.reading import services as settling
from toolevals.traces.reading.services import trace_settle, traces_settle
from toolevals.traces.tasks import settle
from toolevals.workspace.clock import database_now
from toolevals.workspace.trash.kinds import trash_kinds


@pytest.fixture(autouse=True)
def at_once(settings):
    """Sum up at once."""
    settings.TRACES_QUIET_SECONDS = 0


def test_a_whole_trace_is_summed_up(client, project, token):
    send(client, token, export(*conversation(**{"user.id": "u-9"})))
    settle()
    trace = Trace.objects.get()
    assert trace.is_whole
    assert (trace.name, trace.agent, trace.agent_version, trace.model) == ("shop", "shop", "1.4.0", "small-1")
    assert (trace.session, trace.input_tokens, trace.output_tokens) == ("s-1", 200, 40)
    assert (trace.calls, trace.failed_calls, trace.tools, trace.error_classes) == (1, 0, ["get_order"], [])
    assert trace.duration_ms == 4000
    assert trace.request == "Where is my order 7?"
    assert trace.text.startswith(" shop get order where is my 7 it shipped")
    use = ToolUse.objects.get()
    assert (use.tool, use.duration_ms, use.error_class, use.arguments_fit) == ("get_order", 250, "", True)
    assert (use.span_id, use.agent_version) == (f"{3:016x}", "1.4.0")


def test_a_call_that_failed_with_arguments_that_do_not_fit(client, token):
    send(
        client,
        token,
        export(*conversation(arguments={"number": 7}, result='{"error": "order not found", "code": 404}')),
    )
    traces_settle()
    use = ToolUse.objects.get()
    assert (use.error_class, use.arguments_fit) == ("404", False)
    assert '"id" is a required property' in use.problem
    trace = Trace.objects.get()
    assert (trace.failed_calls, trace.error_classes) == (1, ["404"])


def test_a_tool_whose_schema_costs_too_much_is_kept_and_not_used(client, token, project, owner, run_jobs):
    schema, _ = REFUSED["allOf"]
    spans = conversation()
    for span_ in spans:
        for said in span_["attributes"]:
            if said["key"] == "gen_ai.tool.definitions":
                said["value"] = {"stringValue": json.dumps([TOOL | {"parameters": schema}, TOOL | {"name": "other"}])}
    send(client, token, export(*spans))
    traces_settle()
    trace = Trace.objects.get()
    assert trace.request == "Where is my order 7?"
    use = ToolUse.objects.get()
    assert use.arguments_fit is None
    assert use.problem.startswith("The schema of get_order is not used: it applies more than 10,000 schemas")
    verdict = SpanVerdict.objects.get(trace=trace, rule="schema")
    assert (verdict.status, verdict.reason) == ("unscored", use.problem)
    dataset = dataset_create(project=project, actor=owner, slug="orders", name="Orders")
    (left_out,) = promoted(run_jobs, dataset, owner, traces=(trace.pk,)).left_out
    assert left_out["reason"].startswith("The schema of get_order is not used")
    assert not dataset.examples.exists()


def test_a_trace_waits_for_its_root_and_reopens(client, token, settings):
    root, *others = conversation()
    send(client, token, export(*others[:2]))
    assert traces_settle() == 0
    send(client, token, export(root))
    assert traces_settle() == 1
    trace = Trace.objects.get()
    assert trace.is_whole
    send(client, token, export(others[2]))
    assert not Trace.objects.get().is_whole
    assert traces_settle() == 1
    trace = Trace.objects.get()
    assert (trace.spans, trace.is_whole, trace.input_tokens) == (4, True, 200)
    assert ToolUse.objects.count() == 1


def test_a_trace_whose_root_never_comes_is_summed_up_and_not_whole(client, token, settings):
    settings.TRACES_ROOTLESS_SECONDS = 0
    send(client, token, export(*conversation()[1:]))
    assert traces_settle() == 1
    trace = Trace.objects.get()
    assert not trace.is_whole
    assert trace.model == "small-1"


def test_what_comes_while_a_trace_is_summed_up_is_not_lost(client, token):
    root, *others = conversation()
    send(client, token, export(root))
    seen = Trace.objects.get()
    send(client, token, export(*others))
    assert not trace_settle(trace=seen)
    assert Trace.objects.get().due_at is not None
    assert traces_settle() == 1
    assert Trace.objects.get().calls == 1


def test_calls_that_only_the_conversation_tells_of_are_counted(client, token):
    root, first, _, last = conversation(result="429 too many requests")
    send(client, token, export(root, first, last))
    traces_settle()
    use = ToolUse.objects.get()
    assert (use.tool, use.span_id, use.duration_ms, use.error_class) == ("get_order", "", None, "429")


def test_a_trace_without_a_conversation_is_summed_up(client, token):
    send(client, token, export(span(1, "GET /", attributes={"http.method": "GET"})))
    traces_settle()
    trace = Trace.objects.get()
    assert (trace.name, trace.calls, trace.request) == ("GET /", 0, "")


def test_one_that_cannot_be_summed_up_stands_in_no_others_way(client, token, monkeypatch):
    for number in (1, 2):
        send(client, token, export(*conversation(f"{number:032x}")))
    first = Trace.objects.order_by("due_at")[0]
    whole = chunks.spans_of

    def broken(trace):
        if trace.pk == first.pk:
            raise RecursionError
        return whole(trace)

    monkeypatch.setattr("toolevals.traces.reading.services.spans_of", broken)
    assert traces_settle() == 1
    first.refresh_from_db()
    assert Trace.objects.due(database_now() + timedelta(minutes=30)).count() == 0
    assert Trace.objects.due(database_now() + timedelta(hours=2)).get() == first


def test_traces_whose_turn_comes_too_late_are_left_to_others(client, token, monkeypatch):
    for number in (1, 2):
        send(client, token, export(*conversation(f"{number:032x}")))
    clock = [0.0]

    def slow(trace, asked):
        clock[0] += settling.TAKEN_SECONDS
        return trace_settle(trace=trace)

    with monkeypatch.context() as patch:
        patch.setattr(settling, "monotonic", lambda: clock[0])
        patch.setattr(settling, "_tried", slow)
        assert traces_settle() == 1
    waiting = Trace.objects.exclude(due_at=None).get()
    assert waiting.settled == 0
    # Nobody takes it before the time is over for which it was taken.
    assert traces_settle() == 0
    Trace.objects.filter(pk=waiting.pk).update(due_at=database_now())
    assert traces_settle() == 1


def test_old_traces_go_and_those_of_examples_stay(client, project, owner, token):
    for number in (1, 2, 3):
        send(client, token, export(*conversation(f"{number:032x}")))
    dataset = dataset_create(project=project, actor=owner, slug="core", name="Core")
    row = ExampleRow("one", {"messages": [{"role": "user", "content": "Hello"}]}, [ToolSpec("get_order")])
    examples_import(dataset=dataset, actor=owner, rows=[row])
    old, kept, _ = Trace.objects.order_by("pk")
    link = TraceExample.objects.create(project=project, trace=kept, example=dataset.examples.get(), turn=1)
    later = database_now() + timedelta(days=31)
    Trace.objects.exclude(pk__in=[old.pk, kept.pk]).update(received_at=later)
    traces_forget(later)
    assert not Trace.objects.filter(pk=old.pk).exists()
    assert Trace.objects.count() == 2
    TraceSettings.objects.create(project=project, retention_days=60)
    traces_forget(later + timedelta(days=31))
    assert Trace.objects.count() == 2
    traces_forget(later + timedelta(days=61))
    assert list(Trace.objects.all()) == [kept]
    link.delete()
    traces_forget(later + timedelta(days=61))
    assert not Trace.objects.exists()


def test_a_deleted_project_takes_its_traces_along(client, project, token):
    send(client, token, export(*conversation()))
    traces_settle()
    kind = trash_kinds()["project"]
    assert (1, "trace", "traces") in kind.takes(project)
    assert kind.destroy(project, monotonic() + 60)
    assert not Trace.objects.exists()
    assert not ToolUse.objects.exists()
