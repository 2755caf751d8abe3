from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from tests.labeling.rows import SHOP_TOOLS
from toolevals.grading.guard import Guard, Request, State
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.queries import active_guard
from toolevals.registry.policies.services import (
    policy_activate,
    policy_create,
    policy_deactivate,
    policy_delete,
    policy_set_registry,
    version_publish,
)
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import AuditEntry, Project

BLOCKED = {"rules": {"no-cancel": {"kind": "blocked", "mode": "enforce", "tools": ["cancel_order"]}}}
SCHEMA = {"rules": {"schema": {"kind": "schema", "mode": "audit"}}}
CANCEL = Request("cancel_order", {})


@pytest.fixture
def registry(project):
    return registry_create(project=project, actor=None, slug="tools", name="Tools")


@pytest.fixture
def version(project, owner):
    return policy_create(
        project=project, actor=owner, slug="shop", name="Shop policy", document=BLOCKED, note=" first "
    )


def in_force(project: Project, slug: str | None) -> tuple[PolicyVersion, Guard]:
    found = active_guard(project, slug)
    assert found is not None
    return PolicyVersion.objects.get(policy__slug=found.slug, number=found.number), found.guard


def verbs() -> list[str]:
    return list(AuditEntry.objects.filter(target_type__startswith="registry.policy").values_list("verb", flat=True))


def test_a_policy_has_versions_in_their_normal_form(version, owner):
    assert (str(version), version.note, version.created_by) == ("shop@1", "first", owner)
    assert version.document == {**BLOCKED, "name": "Shop policy", "version": 1}
    second = version_publish(policy=version.policy, actor=None, document=SCHEMA)
    assert (second.number, second.document["version"]) == (2, 2)


def test_the_same_rules_make_no_version(version):
    again = version_publish(policy=version.policy, actor=None, document={**BLOCKED, "version": 9, "on_error": "refuse"})
    assert again == version
    assert PolicyVersion.objects.count() == 1


def test_what_is_no_policy_is_refused_with_pointers_and_nothing_is_stored(project, version):
    with pytest.raises(InvalidDocument) as error:
        version_publish(policy=version.policy, actor=None, document={"rules": {"a": {"kind": "magic", "mode": "off"}}})
    assert error.value.problems[0].pointer.startswith("/rules/a")
    with pytest.raises(InvalidDocument):
        policy_create(project=project, actor=None, slug="other", name="Other", document={"rules": []})
    with pytest.raises(ValidationError):
        policy_create(project=project, actor=None, slug="shop", name="Again", document=BLOCKED)
    assert (Policy.objects.count(), PolicyVersion.objects.count()) == (1, 1)


def test_the_version_in_force_decides_until_another_is_put_in_force(project, version):
    assert active_guard(project, "shop") is None
    policy_activate(version=version, actor=None)
    second = version_publish(policy=version.policy, actor=None, document={"rules": {}})
    found, guard = in_force(project, "shop")
    assert (found, guard.check(CANCEL, State()).allowed) == (version, False)
    policy_activate(version=second, actor=None)
    found, guard = in_force(project, None)
    assert (found, guard.check(CANCEL, State()).allowed) == (second, True)
    policy_deactivate(policy=version.policy, actor=None)
    policy_deactivate(policy=version.policy, actor=None)
    assert active_guard(project, None) is None
    assert [verb for verb in verbs() if "active" in verb or "activate" in verb] == [
        "policy_activate",
        "policy_activate",
        "policy_deactivate",
    ]


def test_a_guard_is_compiled_once_for_a_version_and_its_tools(project, version, registry, django_assert_num_queries):
    policy_set_registry(policy=version.policy, actor=None, registry=registry)
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    policy_activate(version=version, actor=None)
    _, first = in_force(project, "shop")
    with django_assert_num_queries(2):
        _, second = in_force(project, "shop")
    assert first is second
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS[:1])
    assert in_force(project, "shop")[1] is not first


def test_without_a_name_the_only_policy_in_force_is_asked(project, version):
    other = policy_create(project=project, actor=None, slug="other", name="Other", document=BLOCKED)
    policy_activate(version=version, actor=None)
    assert in_force(project, None)[0] == version
    policy_activate(version=other, actor=None)
    with pytest.raises(InvalidDocument, match="several active policies"):
        active_guard(project, None)
    assert active_guard(project, "unknown") is None


def test_a_schema_rule_needs_tools_before_it_is_in_force(project, version, registry):
    asking = version_publish(policy=version.policy, actor=None, document=SCHEMA)
    with pytest.raises(InvalidDocument, match="registry that has a version"):
        policy_activate(version=asking, actor=None)
    policy_set_registry(policy=version.policy, actor=None, registry=registry)
    with pytest.raises(InvalidDocument, match="registry that has a version"):
        policy_activate(version=asking, actor=None)
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    policy_activate(version=asking, actor=None)
    _, guard = in_force(project, "shop")
    assert guard.check(CANCEL, State()).would_refuse
    assert not guard.check(Request("get_order", {"order_id": "A-1"}), State()).would_refuse
    with pytest.raises(InvalidDocument, match="registry that has a version"):
        policy_set_registry(policy=version.policy, actor=None, registry=None)


def test_a_deleted_policy_is_gone_with_its_versions(project, version, owner):
    policy_activate(version=version, actor=owner)
    policy_delete(policy=Policy.objects.get(), actor=owner)
    assert active_guard(project, None) is None
    assert not PolicyVersion.objects.exists()
    assert verbs()[-1] == "policy_delete"
