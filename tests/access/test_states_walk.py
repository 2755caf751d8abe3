"""Every page and every serializer, for rows in every state that they can have: nothing breaks of any.

The states are read off the models, so that a new one is walked without a word here. An address is asked again for each
state of the columns that it reads: what it does not read gives the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django_htmx.middleware import HtmxDetails
from rest_framework import serializers

from reports.gates.services import GateRequest, gate_hold
from tests.access.addresses import Address, addresses
from tests.access.asking import at
from tests.access.populated import LEFT, populate
from tests.access.runs_arguments import a_graded_run
from tests.access.states import Model, Variant, changing, own_models, variants
from tests.access.world import World
from toolevals.workspace.audit.triggers import unguard_statements
from toolevals.workspace.models import Batch, Job, JobState, Membership, Project, User
from toolevals.workspace.monitoring.readiness import READY

# The addresses are walked in parts, so that several processes share them.
PARTS = 12
# Who asks and where is read for every page: their states are walked on the pages of the workspace.
EVERYWHERE: tuple[Model, ...] = (Membership, Project, User)
JOB_PAGE = re.compile(r"/jobs/[0-9a-f]{8}-[0-9a-f-]+/")
GATE = {"bounds": [{"metric": "outcome", "min": 0}]}
WORD = re.compile(r"\w+")
# Serializers of answers to writing, and of rows that are shown to their own person alone.
UNSEEN = frozenset(
    {
        "AdjudicationSerializer",
        "CalibrationAnswerSerializer",
        "CaseToRateSerializer",
        "DraftSerializer",
        "EpisodeSerializer",
        "FeedbackSerializer",
        "LabellingJobSerializer",
        "LookAnswerSerializer",
        "ProposalSerializer",
        "RatingSerializer",
        "ReadingSerializer",
        "RunSerializer",
        "SkipSerializer",
        "SpareLabelSerializer",
        "TryoutAnswerSerializer",
    }
)


@pytest.fixture(scope="module")
def full(world: World) -> World:
    """A world with a row of every model. What waits is counted on the project's first page, in all states there."""
    populate(world)
    # Acts are in each state, too.
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in unguard_statements(connection.vendor):
            cursor.execute(statement)
    return world


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> set[type]:
    """The serializers that have shown something."""
    found: set[type] = set()
    show = serializers.Serializer.to_representation

    def note(self: Any, instance: Any) -> Any:
        found.add(type(self))
        return show(self, instance)

    monkeypatch.setattr(serializers.Serializer, "to_representation", note)
    return found


@cache
def words_in(sql: str) -> frozenset[str]:
    """Return the words of a statement, which is sent many times."""
    return frozenset(WORD.findall(sql))


@contextmanager
def names_read(before: Collection[str] = ()) -> Iterator[set[str]]:
    """Yield the words that queries have said before and say meanwhile, tables and columns among them."""
    names = set(before)

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        names.update(words_in(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield names


@contextmanager
def parts_asked() -> Iterator[list[bool]]:
    """Yield a list that is filled where a page asks meanwhile whether only a part of it is wanted."""
    asked: list[bool] = []

    def note(_: HtmxDetails) -> bool:
        asked.append(True)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HtmxDetails, "__bool__", note)
        yield asked


def asked(client: Client, method: str, path: str, **headers: str) -> tuple[int, str]:
    """Ask and return the status, 0 where none is sent, and what broke, "" where nothing did."""
    client.raise_request_exception = True
    try:
        response: Any = client.generic(method, path, content_type="application/json", headers=headers)
        if response.streaming:
            b"".join(response.streaming_content)
    except Exception as error:  # noqa: BLE001 - whatever broke is named
        return 0, f"{type(error).__name__}: {error}"
    status = int(response.status_code)
    if status == HTTPStatus.SERVICE_UNAVAILABLE and path.startswith(READY):
        # It says so where no worker was seen: the answer is whole, and names the part.
        return status, "" if set(response.json()["parts"].values()) > {"ok"} else "no part is named"
    return status, str(status) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ""


def broken(client: Client, method: str, path: str, **headers: str) -> str:
    """Ask and return what broke; "" where nothing did."""
    return asked(client, method, path, **headers)[1]


def walked(world: World, address: Address, refused: set[tuple[str, str]]) -> dict[str, str]:
    """Return what broke at an address, by the state in which."""
    found = {}
    with at(world, address, world.owner) as (client, path):
        method = "GET"
        with names_read() as names, parts_asked() as has_parts:
            status, found["as it is made"] = asked(client, method, path)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            # Where a page can't be had, the act is done without a word.
            method = "POST"
            with names_read() as names, parts_asked() as has_parts:
                found["as it is made"] = broken(client, method, path)
        read = [model for model in own_models() if model._meta.db_table in names]
        if not address.name.startswith("workspace"):
            read = [model for model in read if model not in EVERYWHERE]
        # In a state that all rows are in, a page has been asked as it is made.
        for states in rounds(read, names, changing if method == "GET" else variants):
            with transaction.atomic():
                name = ", ".join(f"{model.__name__} {state.name}" for model, state in states)
                refused.update((model.__name__, state.name) for model, state in states if not state.apply(model, world))
                with names_read(names) as more:
                    found[name] = broken(client, method, path)
                    if has_parts and Job in dict(states):
                        found[f"{name} (a part)"] = broken(client, method, path, hx_request="true")
                names |= more
                transaction.set_rollback(True)
    return {name: error for name, error in found.items() if error}


def rounds(
    read: list[Model], names: set[str], states_of: Callable[[Model], Sequence[Variant]]
) -> Iterator[Sequence[tuple[Model, Variant]]]:
    """Yield which models are in which state at once: jobs alone, since pages turn on them; the others together.

    `names`: what has been read so far, which grows from state to state.
    """
    if Job in read:
        walked_changes: list[Mapping[str, Any]] = []
        for state in variants(Job):
            # Where nobody reads batches, jobs that differ in them alone are one.
            if state.changes not in walked_changes or Batch._meta.db_table in names:
                walked_changes.append(state.changes)
                yield [(Job, state)]
    left = {model: list(states_of(model)) for model in read if model is not Job}
    while together := [(model, state) for model, states in left.items() for state in read_next(model, states, names)]:
        yield together


def read_next(model: Model, states: list[Variant], names: set[str]) -> list[Variant]:
    """Take out of a model's states the first that changes a column that is read; return it, if there is one."""
    found = [state for state in states if state.columns(model) & names][:1]
    for state in found:
        states.remove(state)
    return found


def below(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield the classes that are made of one."""
    each: type[Any]
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_state_breaks_an_address(full, part):
    refused: set[tuple[str, str]] = set()
    wrong = [
        f"{address}, {state}: {error}"
        for address in addresses()[part::PARTS]
        for state, error in walked(full, address, refused).items()
    ]
    assert wrong == [], "\n".join(wrong)
    # A state that the database allows no row to be in has its other columns in `tests.access.states.BESIDE`.
    assert refused == set()


def test_every_serializer_of_rows_is_walked(full, shown):
    for address in addresses():
        if address.is_api:
            with at(full, address, full.owner) as (client, path):
                client.get(path)
    unseen = {
        each.__name__ for each in set(below(serializers.ModelSerializer)) - shown if "api" in each.__module__.split(".")
    }
    assert sorted(unseen - UNSEEN) == []


def test_what_waits_is_counted_on_the_first_page_alone(full):
    read = {}
    for name in ("workspace:project", "workspace:jobs"):
        [address] = [each for each in addresses() if each.name == name]
        with at(full, address, full.owner) as (client, path), names_read() as names:
            assert client.get(path).status_code == HTTPStatus.OK
            read[name] = names
    assert "labeling_labelslot" in read["workspace:project"] - read["workspace:jobs"]


def tells_of_a_failed_job(text: str) -> bool:
    """Return whether a page or an answer leads to a job, or says of one that it failed."""
    return "✕ failed" in text or '"state":"failed"' in text or JOB_PAGE.search(text) is not None


def outcomes(world: World) -> set[str]:
    """Return where the outcomes of the project's jobs will be seen that are not there yet."""
    rows = Job.objects.filter(project=world.project).exclude(result_path="").exclude(state=JobState.SUCCEEDED)
    return set(rows.values_list("result_path", flat=True))


def said_at(client: Client, path: str) -> str | None:
    """Return what stands at an address; None where nothing does, or a file."""
    answer: Any = client.get(path)
    return None if answer.status_code != HTTPStatus.OK or answer.streaming else answer.content.decode()


def test_a_failed_job_says_why_wherever_it_is_shown(full):
    [failed] = [each for each in variants(Job) if each.name == "failed"]
    reason, silent = failed.batches["error"], list[str]()
    seen: set[str] = set()
    for address in addresses():
        with at(full, address, full.owner) as (client, path):
            held = gate_hold(run=a_graded_run(full), actor=None, request=GateRequest(GATE))
            paths = {path: False, **dict.fromkeys(outcomes(full) - seen, True)}
            seen.update(paths)
            failed.apply(Job, full)
            for where, is_outcome in paths.items():
                text = said_at(client, where)
                if text is not None and reason not in text and (is_outcome or tells_of_a_failed_job(text)):
                    silent.append(address.name if where == path else where)
    assert held.job is not None
    assert held.job.result_path
    # It tells what files an example came from, with the job of each: not how that ended.
    assert set(silent) == {"labeling:datasheet", "labeling:datasheet-markdown"}, "\n".join(silent)


def test_every_state_of_a_job_is_walked():
    assert {state.changes["state"] for state in variants(Job)} == set(JobState)


def test_every_model_has_a_row(full):
    assert {model for model in own_models() if not model._base_manager.exists()} == set(LEFT)
