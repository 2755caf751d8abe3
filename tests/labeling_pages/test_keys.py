"""A person's keys: the sheet, the page, what is refused, and that the documentation lists what there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from labeling.label.keyboard import ACTIONS, BOTH, binding_problems, caps, moved_keys
from labeling.models import KeyBindings, LabelSlot
from tests.labeling_pages.conftest import body
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]
ROOT = Path(__file__).resolve().parents[2]
URL = "/p/shop/label/keys/"
# Written by an expression of the template.
COMPUTED = re.compile(r"[{}]")


def test_no_two_usual_keys_are_the_same():
    assert binding_problems({}) == {}


def test_a_key_that_something_else_has_is_refused():
    assert binding_problems({"skip": "f"}) == {"skip": "“Flag” has F already."}
    assert binding_problems({"skip": "f", "flag": "s"}) == {}


@pytest.mark.parametrize("key", ["1", "enter", "?", "ctrl+w", "two keys", "", "escape"])
def test_what_cannot_be_a_key(key: str):
    assert list(binding_problems({"skip": key})) == ["skip"]


def test_a_key_of_the_other_page_is_free():
    assert binding_problems({"skip": "k"}) == {}


def test_an_action_that_is_none_is_refused():
    assert list(binding_problems({"fly": "z"})) == ["fly"]


def test_moved_keys_are_told_as_they_are_drawn():
    assert moved_keys({"submit": "ctrl+s"}, "label") == [
        {"usual": "ctrl+enter", "own": "ctrl+s", "drawn": "Ctrl ↵", "redrawn": "Ctrl S"}
    ]


def test_keys_are_kept_and_shown(slot: LabelSlot, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    assert client.post(URL, {"skip": "z", "flag": "f"}).status_code == 302
    assert KeyBindings.objects.get(user=reviewer).bindings == {"skip": "z"}
    page = body(client.get(reverse("labeling:label-slot", args=["shop", slot.pk])))
    assert '"own": "z"' in page
    assert 'name="skip" value="z"' in body(client.get(URL))


def test_a_conflict_is_said_beside_its_field_and_nothing_is_kept(reviewer: User, project: object, as_user: AsUser):
    response = as_user(reviewer).post(URL, {"skip": "f"})
    assert response.status_code == 422
    assert "“Flag” has F already." in body(response)
    assert not KeyBindings.objects.exists()


def test_the_usual_keys_come_back(reviewer: User, project: object, as_user: AsUser):
    client = as_user(reviewer)
    client.post(URL, {"skip": "z"})
    client.post(URL, {"skip": "z", "usual": "1"})
    assert KeyBindings.objects.get(user=reviewer).bindings == {}


def test_each_action_has_one_field(reviewer: User, project: object, as_user: AsUser):
    names = re.findall(
        r'<input class="form-control mono" id="key-[^"]*" name="([^"]*)"', body(as_user(reviewer).get(URL))
    )
    assert sorted(names) == sorted({action.name for action in ACTIONS if action.name})


def test_every_key_of_the_pages_is_listed():
    listed = {press for action in ACTIONS for press in action.key.split(" ")}
    for template in (ROOT / "templates" / "labeling").rglob("*.html"):
        keys = re.findall(r'data-key="([^"]+)"', template.read_text())
        assert [key for key in keys if not COMPUTED.search(key) and key not in listed] == [], template


def test_the_documentation_lists_every_key():
    text = (ROOT / "docs" / "labelling.md").read_text()
    for action in ACTIONS:
        assert set(action.pages) <= set(BOTH)
        drawn = " ".join(f"`{cap}`" for cap in caps(action.key))
        assert f"| {drawn} | {action.title} | {', '.join(action.pages)} |" in text
