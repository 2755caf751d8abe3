"""A sample of traces is looked at before it is made, and undone until somebody labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labeling.errors import InvalidAct
from labeling.label.claims import slot_claim
from labeling.models import Example, LabelSlot, Resolution, Revision
from tests.traces.promoting import promoted
from tests.traces.sending import conversation, export, send
from toolevals.traces.intake.scrubbing import rules_of
from toolevals.traces.intake.services import trace_settings_update
from toolevals.traces.models import Promotion, Trace, TraceExample
from toolevals.traces.promotion.sampling import traces_draw
from toolevals.traces.promotion.services import promotion_drop, promotion_make, promotion_undo
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.models import AuditEntry

PAGE = "/p/shop/traces/examples/"
API = "/api/v1/projects/shop/traces/"
LONG = "Hello, I bought a lamp last week and it has not come yet. Could you please look where order {} is now?"


def two_turns(number: int) -> list[dict[str, Any]]:
    """Return a conversation whose user writes twice: a call is made for the first message only."""
    spans = conversation(f"{number:032x}", asked=LONG.format(number), **{"gen_ai.conversation.id": f"t-{number}"})
    last = spans[-1]["attributes"]
    said = next(json.loads(each["value"]["stringValue"]) for each in last if each["key"] == "gen_ai.input.messages")
    answered = {"role": "assistant", "parts": [{"type": "text", "content": "It is shipped."}]}
    thanks = {"role": "user", "parts": [{"type": "text", "content": f"Thank you! Mail ann{number}@example.org."}]}
    for each in last:
        if each["key"] == "gen_ai.input.messages":
            each["value"] = {"stringValue": json.dumps([*said, answered, thanks])}
    return spans


@pytest.fixture
def talks(client, token, settings) -> list[Trace]:
    settings.TRACES_QUIET_SECONDS = 0
    for number in (1, 2):
        send(client, token, export(*two_turns(number)))
    traces_settle()
    return list(Trace.objects.order_by("pk"))


def test_texts_are_shown_before_anything_is_made(talks, dataset, project, adjudicator, client, run_jobs):
    rules = rules_of([{"kind": "email"}])
    trace_settings_update(project=project, actor=None, retention_days=30, sample_rate=1, rules=rules)
    client.force_login(adjudicator)
    said = {"dataset": str(dataset.pk), "turns": "every", "count": "5", "seed": "3", "look": ""}
    answer = client.post("/p/shop/traces/promote/", said)
    run_jobs()
    assert not Example.objects.exists()
    page = " ".join(client.get(answer["Location"]).content.decode().split())
    assert "4 examples to make" in page
    assert "Thank you! Mail" in page
    assert "ann1@example.org" not in page
    assert page.count("personal data removed") == 2
    assert "2 messages before" not in page.partition("Thank you")[0]
    promotion = Promotion.objects.get()
    assert client.post(f"{PAGE}{promotion.pk}/make/").status_code == 302
    run_jobs()
    assert Example.objects.count() == 4
    assert "ann1@example.org" not in str(list(Revision.objects.values_list("input", flat=True)))
    promotion.refresh_from_db()
    assert (promotion.state, promotion.made, promotion.plan) == ("made", 4, {})
    with pytest.raises(InvalidAct, match="cannot be made"):
        promotion_make(promotion=promotion, actor=adjudicator)


def test_a_sample_may_be_dropped_and_drawn_again(sent, dataset, owner, run_jobs):
    promotion = promoted(run_jobs, dataset, owner, shows_first=True)
    assert (promotion.state, len(promotion.plan["new"])) == ("drawn", 11)
    assert promotion_drop(promotion=promotion, actor=owner).state == "undone"
    for act in (promotion_drop, promotion_make, promotion_undo):
        with pytest.raises(InvalidAct):
            act(promotion=promotion, actor=owner)
    assert promoted(run_jobs, dataset, owner).made == 11


@pytest.mark.parametrize(("turns", "numbers"), [("every", {1, 2}), ("called", {1})])
def test_turns_of_a_trace_are_chosen(talks, dataset, owner, run_jobs, turns, numbers):
    promoted(run_jobs, dataset, owner, turns=turns)
    assert set(TraceExample.objects.values_list("turn", flat=True)) == numbers


def test_one_turn_of_each_trace_is_drawn_by_the_seed(talks, dataset, owner, run_jobs):
    drawn = set()
    for seed in range(1, 9):
        promotion = promoted(run_jobs, dataset, owner, turns="one", seed=seed, shows_first=True)
        planned = [(each["trace"], each["turn"]) for each in promotion.plan["new"]]
        assert len({trace for trace, _ in planned}) == len(planned) == 2
        drawn.add(tuple(planned))
        promotion_drop(promotion=promotion, actor=owner)
    assert len(drawn) > 1


def test_near_duplicates_are_folded_and_other_orders_are_not(client, token, settings, dataset, owner, run_jobs):
    settings.TRACES_QUIET_SECONDS = 0
    asked = (LONG.format(7), LONG.format(8), f"{LONG.format(7)} Thanks a lot!", f"{LONG.format(7)} Quick, please!")
    for number, words in enumerate(asked, start=1):
        send(client, token, export(*conversation(f"{number:032x}", asked=words)))
    traces_settle()
    promotion = promoted(run_jobs, dataset, owner, shows_first=True)
    assert sorted(len(each["alike"]) for each in promotion.plan["new"]) == [0, 2]
    promotion_make(promotion=promotion, actor=owner)
    run_jobs()
    assert (Example.objects.count(), TraceExample.objects.filter(is_folded=True).count()) == (2, 2)
    client.force_login(owner)
    page = " ".join(client.get(f"{PAGE}{promotion.pk}/").content.decode().split())
    assert "2 turns merged into examples that ask nearly the same" in page
    assert "from all traces, in turns by tools and classes of errors; every turn; seed 1" in page


def test_a_later_sample_is_folded_into_examples_that_are_there(sent, dataset, owner, client, token, run_jobs):
    promoted(run_jobs, dataset, owner)
    send(client, token, export(*conversation(f"{99:032x}", asked="where is order 3?")))
    traces_settle()
    later = promoted(run_jobs, dataset, owner)
    assert (later.drawn, later.made, later.folded) == (1, 0, 1)
    link = TraceExample.objects.get(trace__trace_id=f"{99:032x}")
    assert (link.is_folded, link.example.external_id) == (True, f"trace-{3:032x}-1")


def test_a_folded_trace_is_closed_like_the_one_that_the_example_is_made_of(
    sent, dataset, owner, reviewer, client, run_jobs
):
    promoted(run_jobs, dataset, owner)
    client.force_login(reviewer)
    folded = TraceExample.objects.get(is_folded=True).trace
    assert client.get(f"/p/shop/traces/{folded.pk}/").status_code == 403
    Revision.objects.update(resolution=Resolution.RESOLVED)
    assert client.get(f"/p/shop/traces/{folded.pk}/").status_code == 200


def test_undoing_deletes_the_examples_and_opens_the_traces(sent, dataset, owner, reviewer, client, run_jobs):
    kept = promoted(run_jobs, dataset, owner, traces=(sent[0].pk,))
    promotion = promoted(run_jobs, dataset, owner)
    assert Example.objects.count() == 11
    promotion_undo(promotion=promotion, actor=owner)
    slot = slot_claim(dataset_or_project=dataset, actor=reviewer)
    assert slot is not None
    assert slot.revision.example.traces.get().promotion == kept
    run_jobs()
    promotion.refresh_from_db()
    assert promotion.state == "undone"
    assert list(Example.objects.values_list("external_id", flat=True)) == [f"trace-{1:032x}-1"]
    assert TraceExample.objects.count() == 1
    client.force_login(reviewer)
    assert client.get(f"/p/shop/traces/{sent[4].pk}/").status_code == 200
    assert AuditEntry.objects.filter(verb="promotion_undo", actor=owner).count() == 1


def test_nothing_is_undone_once_somebody_labels(sent, dataset, owner, reviewer, client, run_jobs):
    promotion = promoted(run_jobs, dataset, owner)
    slot = slot_claim(dataset_or_project=dataset, actor=reviewer)
    client.force_login(owner)
    answer = client.post(f"{PAGE}{promotion.pk}/undo/", follow=True)
    assert "One of these examples is being labelled or was changed" in answer.content.decode()
    answer = client.post(f"{API}promotions/{promotion.pk}/undo/")
    assert (answer.status_code, "is being labelled" in answer.json()["detail"]) == (409, True)
    assert Example.objects.count() == 11
    # The places of the others are as they were.
    assert LabelSlot.objects.filter(state="open").count() == LabelSlot.objects.count() - 1
    assert slot is not None


def test_a_filter_on_what_agents_did_is_shown_to_its_author_alone(sent, dataset, owner, adjudicator, client, run_jobs):
    promotion = promoted(run_jobs, dataset, owner, wanted={"error": "404"})
    for person, is_told in ((owner, True), (adjudicator, False)):
        client.force_login(person)
        pages = [client.get(path).content.decode() for path in (PAGE, f"{PAGE}{promotion.pk}/")]
        answers = [client.get(f"{API}promotions/{end}").content.decode() for end in ("", f"{promotion.pk}/")]
        assert [("error 404" in text) for text in (*pages, *answers)] == [is_told] * 4


def test_samples_by_rest(sent, dataset, adjudicator, client, run_jobs):
    client.force_login(adjudicator)
    said = {"dataset": "core", "count": 3, "seed": 2, "strata": ["requests", "calls"], "look": True}
    answer = client.post(f"{API}promotions/", json.dumps(said), content_type="application/json")
    assert answer.status_code == 202, answer.content
    run_jobs()
    one = f"{API}promotions/{answer.json()['id']}/"
    found = client.get(one).json()
    assert (found["state"], found["drawn"], len(found["turns"])) == ("drawn", 3, 3)
    assert found["turns"][0]["request"].startswith("Where is order")
    assert client.post(f"{one}make/").json()["state"] == "making"
    run_jobs()
    assert client.get(f"{API}promotions/").json()["results"][0]["made"] == 3
    assert client.post(f"{one}drop/").status_code == 409
    assert client.post(f"{one}undo/").json()["state"] == "undoing"
    run_jobs()
    assert (client.get(one).json()["state"], Example.objects.count()) == ("undone", 0)
    for wrong in (
        {"dataset": "none"}, {"filter": {"colour": "red"}}, {"filter": {"since": "soon"}}, {"count": 0},
        {"strata": ["moon"]}, {"traces": ["00000000-0000-0000-0000-000000000000"]}, {"turns": "odd"},
    ):  # fmt: skip
        answer = client.post(f"{API}promotions/", json.dumps(said | wrong), content_type="application/json")
        assert answer.status_code == 422, wrong


def test_rules_and_requests_are_strata(sent, project, client, token):
    send(client, token, export(*conversation(f"{50:032x}", asked="Please cancel the blue sofa for my aunt.")))
    send(client, token, export(*conversation(f"{51:032x}", asked="Where is order 51?", arguments={"id": 51})))
    traces_settle()
    odd, broken = (Trace.objects.get(trace_id=f"{number:032x}").pk for number in (50, 51))
    assert odd in traces_draw(project, TraceFilter(), 2, 1, ("requests",))
    assert broken in traces_draw(project, TraceFilter(), 2, 1, ("rules",))
    both = traces_draw(project, TraceFilter(), 4, 1, ("rules", "requests"))
    assert {odd, broken} <= set(both)
    assert len(both) == 4
