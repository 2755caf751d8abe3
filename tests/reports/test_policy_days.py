"""The keys that ask a policy, and what it refused by day, on its page and in its file."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.urls import reverse

from reports.guard.asked import DAYS, MOST_KEYS, asked_of
from tests.registry.test_guard_checks import GET_ORDER, ask, header
from toolevals.registry.models import GuardDay
from toolevals.registry.policies.services import policy_activate, policy_create
from toolevals.workspace.clock import database_now

pytestmark = pytest.mark.django_db
RULES = {
    "desk": {"kind": "keys", "mode": "enforce", "keys": {"desk": {"denied_tools": ["cancel_*"]}, "night": {}}},
    "orders": {"kind": "blocked", "mode": "audit", "tools": ["get_order"]},
}


@pytest.fixture
def version(project):
    document = {"deadline_ms": 10_000, "rules": RULES}
    made = policy_create(project=project, actor=None, slug="shop", name="Shop", document=document)
    policy_activate(version=made, actor=None)
    return made


def test_the_page_shows_who_asks_and_what_was_refused(client, project, owner, viewer, version):
    token = header(project, owner)
    for name in ("get_order", "cancel_order", "cancel_order", "get_stock"):
        ask(client, token, {**GET_ORDER, "name": name})
    found = asked_of(version)
    desk, night = found.keys
    assert (desk.key, desk.tokens, desk.allowed, desk.would_refuse, desk.refused) == ("desk", 1, 1, 1, 2)
    assert desk.last_used is not None
    assert (night.key, night.tokens, night.last_used, night.allowed) == ("night", 0, None, 0)
    assert [(each.rule, each.refused, each.would_refuse) for each in found.rules] == [("desk", 2, 0), ("orders", 0, 1)]
    assert found.highest == 2
    client.force_login(viewer)
    page = " ".join(client.get(reverse("reports:policy", args=["shop", "shop"])).content.decode().split())
    assert "cancel_*" in page
    assert "the highest bar is 2" in page
    content = b"".join(client.get(reverse("reports:policy-days-csv", args=["shop", "shop"]))).decode("utf-8-sig")
    rows = {row["rule"]: row for row in csv.DictReader(io.StringIO(content))}
    assert (rows[""]["allowed"], rows[""]["would_refuse"], rows[""]["refused"]) == ("1", "1", "2")
    assert (rows["desk"]["refused"], rows["orders"]["would_refuse"]) == ("2", "1")
    assert rows[""]["day"] == database_now().date().isoformat()


def test_bars_stand_at_their_days_and_old_days_are_left_out(version):
    today = database_now().date()
    made = {"policy": version.policy, "key": "desk", "rule": "orders", "allowed": 0}
    GuardDay.objects.create(day=today, refused=1, would_refuse=3, **made)
    GuardDay.objects.create(day=today - timedelta(days=DAYS - 1), refused=0, would_refuse=1, **made)
    GuardDay.objects.create(day=today - timedelta(days=DAYS), refused=50, would_refuse=50, **made)
    found = asked_of(version)
    (orders,) = found.rules
    assert (orders.refused, orders.would_refuse, found.highest) == (1, 4, 4)
    assert orders.refused_path == f"M{6 * (DAYS - 1)} 28.0v-7.0h4v7.0z"
    assert orders.would_path == f"M0 28.0v-7.0h4v7.0zM{6 * (DAYS - 1)} 21.0v-21.0h4v21.0z"


def test_of_many_keys_the_busiest_are_shown(version):
    today = database_now().date()
    for number in range(MOST_KEYS + 3):
        counts = {"allowed": number, "would_refuse": 0, "refused": 0}
        GuardDay.objects.create(policy=version.policy, day=today, key=f"k{number}", rule="", **counts)
    found = asked_of(version)
    assert (found.keys[0].key, len(found.keys), found.more_keys) == (f"k{MOST_KEYS + 2}", MOST_KEYS, 5)
