"""A file imported again: what is new, what is kept, and what people have decided."""

from __future__ import annotations

from labeling.adjudicate.resolution import settle_due
from labeling.models import (
    Dispute,
    Example,
    Gold,
    GoldSource,
    LabelSlot,
    Resolution,
    Revision,
)
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, document
from tests.labeling.test_imports import current, load, many
from tests.labeling.windows import later
from toolevals.registry.models import ToolList

__all__ = ["load"]


def test_importing_again_changes_nothing(dataset, load):
    rows = [*many(3), document("gold", expectation=call(), strata={"bucket": "selection"})]
    load(rows)
    before = [list(model.objects.order_by("pk").values()) for model in (Example, Revision, Gold, LabelSlot)]
    job = load(rows)
    assert (job.report["added"], job.report["unchanged"]) == (0, 4)
    assert [list(model.objects.order_by("pk").values()) for model in (Example, Revision, Gold, LabelSlot)] == before


def test_the_order_of_keys_is_no_change(dataset, load):
    load([document("a", expectation=call())])
    turned = dict(reversed(document("a", expectation=call()).items()))
    (trajectory,) = turned["expectation"]["alternatives"]
    trajectory["ordered"][0]["arguments"] |= {"verbose": {"exact": True}}
    load([turned])
    trajectory["ordered"][0]["arguments"] = dict(reversed(trajectory["ordered"][0]["arguments"].items()))
    job = load([turned])
    assert (job.report["gold_changed"], job.report["unchanged"]) == (0, 1)
    assert Gold.objects.count() == 2


def test_changed_input_is_a_further_revision_and_labels_stay_with_theirs(dataset, load, ann, submit, claim):
    load([document("a")])
    label = submit(ann, NO_CALL)
    old = label.revision
    changed = document("a") | {"input": {"messages": [{"role": "user", "content": "Changed"}]}}
    job = load([changed])
    assert job.report["revised"] == 1
    new = current("a")
    assert (new.number, new.slots.count(), label.revision) == (2, 2, old)
    assert list(old.slots.order_by("number").values_list("state", flat=True)) == ["submitted", "closed"]
    assert claim(ann).revision == new
    assert load([document("a")]).report["revised"] == 1
    assert current("a") == old
    assert Revision.objects.count() == 2
    assert set(old.slots.values_list("state", flat=True)) == {"submitted", "open"}


def test_other_tools_make_a_revision(dataset, load):
    load([document("a")])
    load([document("a", tools=SHOP_TOOLS[:1])])
    assert Revision.objects.count() == 2
    assert ToolList.objects.count() == 2
    load([document("a", tools="shop@1")])
    assert current("a").number == 1


def test_changed_expectation_is_newer_gold_where_it_was_imported(dataset, load):
    load([document("a", expectation=call())])
    job = load([document("a", expectation=NO_CALL)])
    assert job.report["gold_changed"] == 1
    revision = Revision.objects.get()
    assert [gold.expectation["kind"] for gold in Gold.objects.history_of(revision)] == ["no_call", "calls"]
    assert revision.gold == Gold.objects.history_of(revision)[0]


def test_expectation_for_an_example_nobody_has_labelled_becomes_gold(dataset, load, ann, claim):
    load([document("a")])
    slot = claim(ann)
    assert load([document("a", expectation=NO_CALL)]).report["gold_changed"] == 1
    slot.refresh_from_db()
    assert slot.state == "closed"
    assert Revision.objects.get().resolution == Resolution.RESOLVED


def test_import_never_replaces_peoples_gold_but_disputes_it_once(dataset, load, ann, ben, submit):
    load([document("a")])
    submit(ann, call())
    submit(ben, call())
    settle_due(later())
    gold = Gold.objects.get()
    assert load([document("a", expectation=call())]).report["disputed"] == 0
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 1
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 0
    assert Revision.objects.get().gold == gold
    assert Dispute.objects.get().expectation == NO_CALL


def test_import_waits_for_people_who_have_begun_and_is_settled_by_their_gold(dataset, load, ann, ben, submit):
    load([document("a")])
    submit(ann, NO_CALL)
    assert load([document("a", expectation=NO_CALL)]).report["disputed"] == 1
    submit(ben, NO_CALL)
    settle_due(later())
    assert Gold.objects.get().source == GoldSource.AGREED
    assert Dispute.objects.get().settled_at is not None


def test_strata_are_metadata(dataset, load):
    load([document("a", strata={"bucket": "selection", "difficulty": "easy"})])
    job = load([document("a", strata={"bucket": "selection", "difficulty": "hard"})])
    assert job.report["strata_changed"] == 1
    assert load([document("a")]).report["unchanged"] == 1
    assert Example.objects.get().strata == {"bucket": "selection", "difficulty": "hard"}
    assert Revision.objects.count() == 1
