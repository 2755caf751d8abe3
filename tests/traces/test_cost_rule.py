"""Asks the rule on cost: limits of a project, and what is said where a trace doesn't say what it took."""

from __future__ import annotations

from typing import Any

import pytest

from tests.traces.sending import conversation, export, send
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.models import SpanVerdict, Trace, TraceSettings
from toolevals.traces.reading.limits import Limits
from toolevals.traces.reading.services import traces_settle

SETTINGS = "/p/shop/traces/settings/"


@pytest.fixture
def judged(client, token, project, owner, settings) -> Any:
    """Return a function that sends a conversation of 240 tokens under limits, and returns what the rule says."""
    settings.TRACES_QUIET_SECONDS = 0

    def judge(limits: Limits, **of_models: Any) -> list[tuple[str, float | None, str]]:
        trace_settings_update(project=project, actor=owner, retention_days=30, sample_rate=1.0, rules=(), limits=limits)
        spans = conversation()
        for number, each in enumerate((spans[1], spans[3])):
            for name, (first, second) in of_models.items():
                key = {"cost": "gen_ai.usage.cost", "output": "gen_ai.usage.output_tokens"}[name]
                each["attributes"] = [kept for kept in each["attributes"] if kept["key"] != key]
                if (value := (first, second)[number]) is not None:
                    each["attributes"].append({"key": key, "value": {"doubleValue": value}})
        send(client, token, export(*spans))
        traces_settle()
        return list(SpanVerdict.objects.filter(rule="cost").values_list("status", "value", "reason"))

    return judge


def test_without_a_limit_nothing_is_asked(judged):
    assert judged(Limits()) == []


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(240, ("passed", 1.0, "")), (239, ("failed", 0.0, "It took 240 tokens; the limit is 239."))],
)
def test_tokens_in_and_out_count(judged, tokens, expected):
    assert judged(Limits(tokens=tokens)) == [expected]


def test_what_is_known_may_be_over_the_limit_where_more_is_unknown(judged):
    assert judged(Limits(tokens=210), output=(20, None)) == [
        ("failed", 0.0, "It took 220 tokens; the limit is 210."),
    ]


def test_where_a_call_does_not_say_it_is_unscored(judged):
    assert judged(Limits(tokens=230), output=(20, None)) == [
        ("unscored", None, "It took 220 tokens at least; some calls do not report it."),
    ]


@pytest.mark.parametrize(
    ("cost", "status"),
    [((0.2, 0.1), "passed"), ((0.3, 0.3), "failed"), ((0.6, None), "failed"), ((0.1, None), "unscored")],
)
def test_money_counts_where_the_trace_says_it(judged, cost, status):
    ((found, _, reason),) = judged(Limits(cost=0.5), cost=cost)
    assert found == status
    assert ("the limit is 0.5." in reason) is (status == "failed")


def test_a_trace_without_costs_is_unscored(judged):
    ((status, value, reason),) = judged(Limits(tokens=1000, cost=0.5))
    assert (status, value) == ("unscored", None)
    assert reason == "Nothing says what it cost."


def test_the_verdict_stays_where_the_limit_changes_and_the_page_says_it(judged, client, project, owner, viewer):
    judged(Limits(tokens=100))
    trace_settings_update(project=project, actor=owner, retention_days=30, sample_rate=1.0, rules=())
    client.force_login(viewer)
    trace = Trace.objects.get()
    page = client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
    assert "Tokens and money stay within the limit" in page
    assert "It took 240 tokens; the limit is 100." in page
    assert str(trace.pk) in client.get("/p/shop/traces/?broke=cost").content.decode()


def test_an_owner_sets_limits_on_the_page_and_wrong_ones_are_refused(client, project, owner):
    client.force_login(owner)
    said = {"retention_days": "30", "sample_rate": "1"}
    assert client.post(SETTINGS, {**said, "most_tokens": "5000", "most_cost": "0.25"}).status_code == 302
    assert TraceSettings.of(project).limits == Limits(5000, 0.25)
    assert 'value="5000"' in client.get(SETTINGS).content.decode()
    for wrong in ({"most_tokens": "0"}, {"most_tokens": "many"}, {"most_cost": "-1"}, {"most_cost": "nan"}):
        assert client.post(SETTINGS, said | wrong).status_code == 200
    assert TraceSettings.of(project).limits == Limits(5000, 0.25)
    client.post(SETTINGS, said)
    assert TraceSettings.of(project).limits == Limits()
