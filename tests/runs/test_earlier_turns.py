"""Turns of examples whose runs were graded before turns were counted."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from tests.runs.building import STATUS, call, example, uploaded_run, version_of
from toolevals.runs.models import RevisionTurn

pytestmark = pytest.mark.django_db
count_turns = import_module("toolevals.runs.migrations.0011_turns_of_earlier_runs").count_turns


def said(*words: str):
    """Return an example in which the user has said these words, with an answer between each two."""
    found = example("status", words[-1], STATUS)
    before = [
        message
        for each in words[:-1]
        for message in ({"role": "user", "content": each}, {"role": "assistant", "content": "Yes?"})
    ]
    return found | {"id": f"turn-{len(words)}", "input": {"messages": [*before, *found["input"]["messages"]]}}


def test_the_migration_counts_what_the_rollup_counts(project, run_jobs):
    version = version_of(project, [said("Hello", "Where is it?"), said("Where is it?")])
    uploaded_run(project, version, [call("turn-1", STATUS), call("turn-2", STATUS)])
    run_jobs()
    counted = dict(RevisionTurn.objects.values_list("revision", "turn"))
    assert sorted(counted.values()) == [1, 2]
    RevisionTurn.objects.all().delete()
    count_turns(apps, None)
    assert dict(RevisionTurn.objects.values_list("revision", "turn")) == counted


def test_the_migration_leaves_alone_what_nobody_ran_on_and_what_is_counted(project, run_jobs):
    version_of(project, [said("Never asked")])
    count_turns(apps, None)
    assert not RevisionTurn.objects.exists()


def test_it_goes_on_from_where_it_was(project, run_jobs, monkeypatch):
    monkeypatch.setattr(import_module("toolevals.runs.migrations.0011_turns_of_earlier_runs"), "AT_ONCE", 1)
    version = version_of(project, [said("Hello", "Where is it?"), said("Where is it?")])
    uploaded_run(project, version, [call("turn-1", STATUS), call("turn-2", STATUS)])
    run_jobs()
    RevisionTurn.objects.filter(turn=2).delete()
    count_turns(apps, None)
    assert sorted(RevisionTurn.objects.values_list("turn", flat=True)) == [1, 2]
