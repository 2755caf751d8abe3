"""The lists of a project as files: every row with its id, nothing that a spreadsheet would run, a bounded cost."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from labeling.models import Dataset, DatasetVersion
from tests.fixtures.people import person
from tests.labeling.rows import SHOP_TOOLS
from toolevals.presentation.csv import FORMULA_STARTS
from toolevals.registry.models import Policy, PolicyVersion, Registry, RegistryVersion, ToolList
from toolevals.registry.policies.services import policy_create, version_publish
from toolevals.runs.models import Judge, Rubric, Simulator
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, Delivery, Invitation, Membership, Project, Role, Secret, Webhook
from toolevals.workspace.notifications.services import webhook_save
from toolevals.workspace.people.services import invitation_create
from toolevals.workspace.secrets.services import secret_set
from toolevals.workspace.tokens.services import token_create

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HOSTILE = "=1+1"


def tool_list(project: Project) -> ToolList:
    return ToolList.objects.get_or_create(project=project, digest="d", defaults={"size": len(SHOP_TOOLS)})[0]


def a_registry(project: Project, name: str) -> Registry:
    return Registry.objects.create(project=project, slug=name, name=HOSTILE)


def a_registry_version(project: Project, name: str) -> RegistryVersion:
    registry = Registry.objects.get_or_create(project=project, slug="walk", defaults={"name": "Walk"})[0]
    return RegistryVersion.objects.create(
        registry=registry,
        number=registry.versions.count() + 1,
        tools=tool_list(project),
        note=HOSTILE,
        actor=person(f"by-{name}"),
    )


def a_dataset(project: Project, name: str) -> Dataset:
    return Dataset.objects.create(
        project=project, slug=name, name=HOSTILE, default_tools=a_registry_version(project, name)
    )


def a_dataset_version(project: Project, name: str) -> DatasetVersion:
    dataset = Dataset.objects.get_or_create(project=project, slug="walk", defaults={"name": "Walk"})[0]
    return DatasetVersion.objects.create(
        dataset=dataset,
        number=dataset.versions.count() + 1,
        size=3,
        note=HOSTILE,
        tags=["a", "b"],
        actor=person(f"by-{name}"),
    )


def a_rubric(project: Project, name: str) -> Rubric:
    return Rubric.objects.create(
        project=project, name=name, version=1, title=HOSTILE, layer="answer", document={"name": name}
    )


def a_judge(project: Project, name: str) -> Judge:
    rubric = a_rubric(project, name)
    return Judge.objects.create(
        project=project, name=f"{HOSTILE} {name}", rubric=rubric, model="judge-1", is_pinned=True, options={}
    )


def a_simulator(project: Project, name: str) -> Simulator:
    return Simulator.objects.create(
        project=project,
        name=HOSTILE,
        number=Simulator.objects.count() + 1,
        kind="scripted",
        content={"secret": "content"},
        tools=["track", "refund"],
        digest=name,
        actor=person(f"by-{name}"),
    )


def a_member(project: Project, name: str) -> Membership:
    user = person(name)
    user.name = HOSTILE
    user.save()
    return Membership.objects.create(project=project, user=user, role=Role.VIEWER)


def a_token(project: Project, name: str) -> ApiToken:
    member = a_member(project, name)
    return token_create(project=project, actor=None, user=member.user, name=HOSTILE, role=Role.VIEWER)[0]


def an_invitation(project: Project, name: str) -> Invitation:
    member = a_member(project, f"by-{name}")
    return invitation_create(project=project, actor=member.user, email=f"{name}@example.org", role=Role.VIEWER)[0]


def a_secret(project: Project, name: str) -> Secret:
    member = a_member(project, f"by-{name}")
    address = ["https://models.example.org"]
    return secret_set(project=project, actor=member.user, name=name, value="hush", addresses=address)


def a_policy(project: Project, name: str) -> Policy:
    made = policy_create(project=project, actor=None, slug=name, name=HOSTILE, document={"rules": {}})
    return made.policy


def a_policy_version(project: Project, name: str) -> PolicyVersion:
    policy = Policy.objects.filter(project=project, slug="walk").first()
    policy = (
        policy or policy_create(project=project, actor=None, slug="walk", name="Walk", document={"rules": {}}).policy
    )
    document = {"rules": {}, "deadline_ms": 100 + policy.versions.count()}
    return version_publish(policy=policy, actor=person(f"policy-{name}"), document=document, note=HOSTILE)


def a_webhook(project: Project, name: str) -> Webhook:
    url, kinds = "https://hooks.example.org/in", ["run.failed"]
    return webhook_save(project=project, actor=None, name=f"{HOSTILE} {name}", url=url, kinds=kinds)[0]


def a_delivery(project: Project, name: str) -> Delivery:
    hook = Webhook.objects.filter(project=project).first() or a_webhook(project, name)
    document = {"data": {"summary": HOSTILE}}
    now = database_now()
    return Delivery.objects.create(
        project=project, webhook=hook, event=uuid4(), kind="test", document=document, due_at=now
    )


Make = Callable[[Project, str], Any]
# The file, its page, the column of ids, and how one more row is made.
FILES: dict[str, tuple[str, str, Make]] = {
    "labeling:datasets-csv": ("labeling:datasets", "dataset_id", a_dataset),
    "labeling:versions-csv": ("labeling:versions", "version_id", a_dataset_version),
    "registry:registries-csv": ("registry:registries", "registry_id", a_registry),
    "registry:versions-csv": ("registry:registry", "version_id", a_registry_version),
    "reports:policies-csv": ("reports:policies", "policy_id", a_policy),
    "reports:policy-versions-csv": ("reports:policy", "version_id", a_policy_version),
    "runs:judges-csv": ("runs:judges", "judge_id", a_judge),
    "runs:rubrics-csv": ("runs:rubrics", "rubric_id", a_rubric),
    "runs:simulators-csv": ("runs:simulators", "simulator_id", a_simulator),
    "workspace:invitations-csv": ("workspace:members", "invitation_id", an_invitation),
    "workspace:members-csv": ("workspace:members", "member_id", a_member),
    "workspace:secrets-csv": ("workspace:secrets", "secret_id", a_secret),
    "workspace:deliveries-csv": ("workspace:deliveries", "delivery_id", a_delivery),
    "workspace:webhooks-csv": ("workspace:notifications", "webhook_id", a_webhook),
    "workspace:tokens-csv": ("workspace:tokens", "token_id", a_token),
}
OF_ONE = ("labeling:versions", "registry:versions", "registry:registry", "reports:policy", "reports:policy-versions")


def address(name: str) -> str:
    inner = ["walk"] if name.removesuffix("-csv") in OF_ONE else []
    return reverse(name, args=["shop", *inner])


def rows(client: Any, name: str) -> list[dict[str, str]]:
    response = client.get(address(name))
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


@pytest.fixture
def browser(client: Any, owner: Any) -> Any:
    client.force_login(owner)
    return client


@pytest.mark.parametrize("name", FILES)
def test_it_holds_every_row_newest_first_and_no_formula(project, browser, monkeypatch, name):
    monkeypatch.setattr("toolevals.workspace.paging.pages_of.__defaults__", (2,))
    _, column, make = FILES[name]
    made = [str(make(project, f"row-{number}").pk) for number in range(5)]
    found = rows(browser, name)
    assert [row[column] for row in found if row[column] in made] == made[::-1]
    texts = [text for row in found for text in row.values()]
    assert f"'{HOSTILE}" in "\n".join(texts)
    assert [text for text in texts if text[:1] in FORMULA_STARTS] == []


@pytest.mark.parametrize("name", FILES)
def test_its_page_links_it(project, browser, name):
    page, _, make = FILES[name]
    make(project, "one")
    Dataset.objects.get_or_create(project=project, slug="walk", defaults={"name": "Walk"})
    assert f'href="{address(name)}"' in browser.get(address(page)).content.decode()


@pytest.mark.parametrize("name", FILES)
def test_it_costs_the_same_however_many_rows(project, browser, django_assert_max_num_queries, name):
    _, _, make = FILES[name]
    for number in range(12):
        make(project, f"row-{number}")
    with django_assert_max_num_queries(12):
        assert len(rows(browser, name)) >= 12


def test_tokens_leave_without_their_secrets_and_only_while_they_hold(project, browser):
    kept, ended = (a_token(project, name) for name in ("kept", "ended"))
    ended.revoked_at = database_now()
    ended.save()
    found = rows(browser, "workspace:tokens-csv")
    assert [row["token_id"] for row in found] == [str(kept.pk)]
    assert kept.digest not in str(found)
    assert found[0]["prefix"] == kept.prefix


def test_simulators_leave_without_their_contents(project, browser):
    a_simulator(project, "one")
    (row,) = rows(browser, "runs:simulators-csv")
    assert row["tools"] == "track refund"
    assert "content" not in str(row)


def test_another_projects_rows_stay_there(project, browser):
    other = Project.objects.create(slug="other", name="Other")
    for name, (_, _, make) in FILES.items():
        make(project, f"mine-{name.replace(':', '-')}"[:50])
        foreign = str(make(other, f"theirs-{name.replace(':', '-')}"[:50]).pk)
        assert foreign not in str(rows(browser, name))
