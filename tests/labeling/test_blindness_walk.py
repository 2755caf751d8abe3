"""Whatever somebody has said of an unresolved example changes no answer of any address to those who may not know.

Every address of the table of addresses is asked, by GET and by an empty POST, in two worlds that differ in that alone.
A new address is asked without being named here.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import pyarrow.parquet as files
import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.resolution import settle_due
from labeling.blindness import Side
from labeling.examples.act_views import ACTS
from labeling.examples.listing import SORTS
from labeling.examples.told import MOST_LABELS
from labeling.exports import FORMATS
from labeling.label.my_labels import SORTS as MY_SORTS
from labeling.models import Dataset, Resolution, Revision
from tests.access.addresses import Address, addresses
from tests.access.arguments import argument
from tests.access.world import World
from tests.fixtures.people import person
from tests.labeling.two_worlds import (
    MARK,
    REOPENED,
    ROLES,
    SAFE_STRATUM,
    STRATUM,
    TIMES,
    TO_LABEL,
    WORLDS,
    Scene,
    world_made,
)
from tests.labeling.windows import later
from toolevals.workspace import navigation
from toolevals.workspace.access import Audience, rules
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set

EVERY = [address for address in addresses() if "project" in address.arguments]
# Ids, tokens against forgery and the like differ from one world to the next by themselves, and so does how well the
# ids of a zip can be packed.
OWN = re.compile(
    rb'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=csrfmiddlewaretoken" value=")\w+'
    rb'|(?<=X-CSRFToken": ")\w+|(?<="prefix":"te_)[\w-]+|whsec_[\w+/=]+|(?<=grading-1\.zip","size":)\d+'
    rb'|"bytes":\d+(?=},"result_path":"/p/shop/runs/1/bundle/)'
)
# Questions that an address may be asked besides itself: filters and searches that could tell what stays unsaid.
QUESTIONS: dict[str, list[str]] = {
    "labeling:dataset": [
        *(f"?status={state}" for state in Resolution.values),
        "?tool=get_order",
        f"?q={MARK}",
        f"?bucket={STRATUM}",
        *(f"?sort={sort}" for sort in sorted(SORTS)),
        *(f"?labels={number}" for number in range(MOST_LABELS + 1)),
        "?flag=yes",
        "?comments=yes",
        "?kept=me",
        # Of a person: see `_named`.
        "?who=bea",
        "?who=ben",
        "?who=carl",
    ],
    "labeling:dataset-csv": ["?labels=1", "?flag=yes", "?comments=yes", "?who=bea"],
    "labeling:my-labels": [f"?sort={sign}{name}" for name in MY_SORTS for sign in ("", "-")],
    "workspace:audit": ["?act=label_submit", "?act=skip", "?thing=example", "?person=bea"],
    "workspace:audit-csv": ["?act=label_submit", "?thing=example", "?person=bea"],
    "labeling-api:examples": [*(f"?status={state}" for state in Resolution.values), f"?search={MARK}"],
    "labeling:export": [f"?as={name}" for name in FORMATS],
    "labeling-api:export": ["?as=labels_csv", "?as=labels_parquet", "?as=csv&summary"],
}
# Of these examples an empty POST is sent too.
POSTED = (TO_LABEL[0], "pair", "passed-on")
HEADERS = ("Content-Type", "Content-Disposition", "Location", "Last-Modified", "X-Total-Count", "Link")
# Status, headers and body.
Answer = tuple[int, tuple[bytes, ...], bytes]
Answers = dict[str, Answer]
SHOWN = 120


@pytest.fixture
def people(project: Project) -> dict[str, User]:
    project.undo_seconds = 3600
    project.save()
    found = {name: person(name.title()) for name in ROLES}
    for name, role in ROLES.items():
        member_set(project=project, actor=None, user=found[name], role=role)
    return found


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def counted_once() -> Iterator[None]:
    """Count what waits for a reader, which stands in the top bar of every page, for one page and for every POST."""
    count = navigation.counted
    known: list[Any] = []

    def counted(request: Any) -> Any:
        if request.method == "POST":
            return count(request)
        if not known:
            known.append(count(request))
        return known[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(navigation, "counted", counted)
        yield


def is_refused(address: Address, method: str, reader: str) -> bool:
    """Return whether the reader's role is too low, which is told before anybody looks for which example."""
    needed = rules()[address.name].needs(method)
    return not isinstance(needed, Audience) and ROLES[reader] < needed


def asked(scene: Scene, reader: str, names: Sequence[str] = (*TO_LABEL, REOPENED)) -> Answers:
    """Return what a reader is answered by every address, about these examples; a refusal of the role, about one."""
    with counted_once():
        return _asked(scene, reader, names)


def _asked(scene: Scene, reader: str, names: Sequence[str]) -> Answers:
    client = Client(raise_request_exception=False)
    client.force_login(scene.people[reader])
    world = World(scene.project, {ROLES[name]: user for name, user in scene.people.items()}, scene.people["zoe"])
    others: dict[tuple[str, str], Any] = {}
    found: Answers = {}
    seen = set()
    for name in names:
        known = scene.arguments(name)
        for address in EVERY:
            values = {key: _value(address, key, known, others, world, reader) for key in address.arguments}
            place = (address.name, *values.values())
            if place in seen:
                continue
            seen.add(place)
            path = reverse(address.name, kwargs=values)
            requests = [("GET", query) for query in ("", *QUESTIONS.get(address.name, []))]
            for method, query in [*requests, ("POST", "")] if name in POSTED else requests:
                if name != names[0] and is_refused(address, method, reader):
                    continue
                # An address takes a method or not, before anybody looks for which example.
                if found.get(f"{method} {address.name} of {names[0]}", (0,))[0] == HTTPStatus.METHOD_NOT_ALLOWED:
                    continue
                with undone():
                    response = client.generic(method, path + _named(query, scene), content_type="application/json")
                    found[f"{method} {address.name}{query} of {name}"] = _told(response)
    return found


def _named(query: str, scene: Scene) -> str:
    """Return a question with the id of the person whom it names."""
    asked, _, name = query.partition("=")
    return f"{asked}={scene.people[name].pk}" if asked in ("?who", "?person") else query


def _value(address: Address, key: str, known: dict[str, Any], others: dict[Any, Any], world: World, reader: str) -> Any:
    """Return an argument's value: of the example at hand, else the one with which access to the address is tested."""
    of_labelling = address.name.startswith("labeling")
    if key in known and (of_labelling or key == "project"):
        return known[key]
    place = ("" if of_labelling else address.name.partition(":")[0].removesuffix("-api"), key)
    if place not in others:
        others[place] = argument(address.name, key)(world, world.people[ROLES[reader]])
    return others[place]


def _told(response: Any) -> Answer:
    body = b"".join(response) if response.streaming else response.content
    assert response.status_code < 500, response.status_code
    if body.startswith(b"PK"):
        archive = zipfile.ZipFile(io.BytesIO(body))
        body = b"".join(name.encode() + archive.read(name) for name in archive.namelist())
    if body.startswith(b"PAR1"):
        body = repr(files.read_table(io.BytesIO(body), use_threads=False).to_pylist()).encode()
    heads = tuple(response.get(name, "").encode() for name in HEADERS)
    return response.status_code, tuple(OWN.sub(b"", head) for head in heads), OWN.sub(b"", body)


def _apart(key: str, one: Answer, other: Answer) -> str:
    """Say where two answers part."""
    if one[:2] != other[:2]:
        return f"{key}: {one[:2]} or {other[:2]}"
    at = next((at for at, (a, b) in enumerate(zip(one[2], other[2], strict=False)) if a != b), 0)
    here = slice(max(0, at - SHOWN), at + SHOWN)
    return f"{key}: {one[2][here]!r} or {other[2][here]!r}"


@pytest.mark.parametrize("reader", ["ben", "carl", "nora", "vera"])
def test_no_answer_differs_by_what_another_has_said(
    reader: str,
    dataset: Dataset,
    people: dict[str, User],
    pass_time: Callable[[float], None],
    run_jobs: Callable[..., int],
):
    """Ben owns the project and has labelled; Carl labels; Nora may adjudicate and has labelled nothing; Vera looks on.

    Where a second label is in, or a question asked, an adjudicator who has labelled nothing learns of it by right.
    """
    told = []
    for said in WORLDS:
        cache.clear()
        with undone():
            made = world_made(dataset, people, said, run_jobs, decidable=reader != "nora", pass_time=pass_time)
            told.append(asked(made, reader))
    first, second = told
    # Strata that could tell the label: adjudicators alone are told them of what is still to label.
    if ROLES[reader] < Role.ADJUDICATOR:
        assert [
            key
            for key, (_, _, body) in first.items()
            if STRATUM in body.decode(errors="replace").replace(SAFE_STRATUM, "")
        ] == []
        assert any(SAFE_STRATUM in body.decode(errors="replace") for _, _, body in first.values())
    assert first.keys() == second.keys()
    assert [_apart(key, first[key], second[key]) for key in first if first[key] != second[key]] == []
    # What Ben has said himself is the order; her words are nobody else's.
    marks = [f"{said.words}-".encode() for said in WORLDS] + ([] if reader == "ben" else [f"{MARK}-order".encode()])
    assert [key for answers in told for key in answers for mark in marks if mark in answers[key][2]] == []


def test_who_may_decide_is_not_told_who_came_first_or_took_how_long(
    dataset: Dataset,
    people: dict[str, User],
    pass_time: Callable[[float], None],
    run_jobs: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
):
    """Olga owns the project, reads its audit log, and decides between Bea and Ben."""

    def order(revision: Revision, side: Side) -> str:
        # As in earnest, less the revision's id, which is another in each world.
        return f"{side.answer} {side.expectation} {side.rationale}"

    monkeypatch.setattr("labeling.blindness._shuffled", order)
    told = []
    for said in TIMES:
        cache.clear()
        with undone():
            made = world_made(dataset, people, said, run_jobs, decidable=True, pass_time=pass_time)
            settle_due(later())
            made.revisions["pair"].refresh_from_db()
            assert made.revisions["pair"].resolution == Resolution.DISAGREED
            told.append(asked(made, "olga", ["pair"]))
    first, second = told
    assert [_apart(key, first[key], second[key]) for key in first if first[key] != second[key]] == []
    assert b"I see it so." in first["GET labeling:adjudicate-revision of pair"][2]
    assert b"label_submit" not in first["GET workspace:audit-csv of pair"][2]


@pytest.mark.parametrize("reader", ["ben", "nora"])
def test_acts_on_selected_examples_tell_nothing(
    reader: str,
    dataset: Dataset,
    people: dict[str, User],
    pass_time: Callable[[float], None],
    run_jobs: Callable[..., int],
):
    """Each act on several examples, and the list after it, are the same, no matter what Bea has said."""
    said: dict[str, dict[str, Any]] = {
        "assign": {"person": ""},
        "reopen": {"reason": "Look again"},
        "set-aside": {"answer": "ambiguous", "rationale": "Two readings"},
        "tag": {"stratum": "difficulty", "value": "hard"},
        "batch": {"name": "Autumn"},
    }
    assert said.keys() == ACTS.keys()
    told = []
    for world in WORLDS:
        cache.clear()
        with undone():
            made = world_made(dataset, people, world, run_jobs, decidable=reader != "nora", pass_time=pass_time)
            client = Client()
            client.force_login(people[reader])
            picked = [str(made.revisions[name].example_id) for name in (*TO_LABEL, REOPENED)]
            answers = []
            for act, entered in said.items():
                for people_asked in [{}, {"person": str(people["carl"].pk)}] if act == "assign" else [{}]:
                    with undone():
                        asked = {"act": act, "example": picked, **entered, **people_asked}
                        response = client.post(
                            reverse("labeling:examples-act", args=["shop", dataset.slug]), asked, follow=True
                        )
                        answers.append(_told(response))
                        if undo := re.search(r'action="([^"]+/examples/undo/[^"]+)"', response.content.decode()):
                            answers.append(_told(client.post(undo[1], follow=True)))
            told.append(answers)
    assert [status for status, _, _ in told[0]] == [200] * 9
    assert told[0] == told[1]
