"""Tell what is done to policies."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.db.models import Max

from toolevals.grading.guard import Policy as Rules
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonValue
from toolevals.registry.models import Registry
from toolevals.registry.policies.models import Policy, PolicyVersion
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User


@transaction.atomic
def policy_create(
    *,
    project: Project,
    actor: User | None,
    slug: str,
    name: str,
    document: JsonValue,
    registry: Registry | None = None,
    note: str = "",
) -> PolicyVersion:
    """Return the first version of a new policy; it is not in force.

    Raises `ValidationError` for a malformed or taken slug, and InvalidDocument where the document is no policy.
    """
    policy = Policy(project=project, slug=slug, name=name.strip() or slug, registry=registry)
    policy.full_clean()
    policy.save()
    audit_record(project=project, actor=actor, verb="policy_create", target=policy, detail={"slug": slug})
    return version_publish(policy=policy, actor=actor, document=document, note=note)


@transaction.atomic
def version_publish(*, policy: Policy, actor: User | None, document: JsonValue, note: str = "") -> PolicyVersion:
    """Return the policy's version with these rules: a new one unless the newest has the same.

    The document's name and version are set to the policy's name and the version's number. A new version is not in
    force. Raises InvalidDocument with pointers where the document is no policy.
    """
    rules = Rules.from_document(document)
    # One publisher at a time: the numbers have no gap and no double.
    Policy.objects.select_for_update(no_key=True).get(pk=policy.pk)
    newest = policy.versions.first()
    if newest is not None and newest.document == _document(rules, policy, newest.number):
        return newest
    number = (policy.versions.aggregate(last=Max("number"))["last"] or 0) + 1
    version = PolicyVersion.objects.create(
        policy=policy, number=number, document=_document(rules, policy, number), note=note.strip(), created_by=actor
    )
    detail = {"policy": policy.slug, "number": number} | ({"note": version.note} if version.note else {})
    audit_record(project=policy.project, actor=actor, verb="version_publish", target=version, detail=detail)
    return version


@transaction.atomic
def policy_activate(*, version: PolicyVersion, actor: User | None, reason: str = "") -> None:
    """Put a version in force in place of the one that was; `reason` says why, where error rates are not known.

    Doors go through `reports.guard.services.version_enforce`, which knows the error rates.

    Raises InvalidDocument where a rule asks for the tools on offer and the policy has no registry with a version.
    """
    policy = (
        Policy.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=version.policy_id)
    )
    _require_tools(policy, Rules.from_document(version.document))
    was = policy.active.number if policy.active else None
    policy.active = version
    policy.save(update_fields=["active"])
    version.activated_at, version.reason = database_now(), reason.strip()
    version.save(update_fields=["activated_at", "reason"])
    detail = {"policy": policy.slug, "number": version.number, "was": was}
    detail |= {"reason": version.reason} if version.reason else {}
    audit_record(project=policy.project, actor=actor, verb="policy_activate", target=version, detail=detail)


@transaction.atomic
def policy_deactivate(*, policy: Policy, actor: User | None) -> None:
    """Take a policy out of force, if a version of it is."""
    kept = Policy.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=policy.pk)
    if kept.active is None:
        return
    detail = {"policy": kept.slug, "was": kept.active.number}
    kept.active = None
    kept.save(update_fields=["active"])
    audit_record(project=kept.project, actor=actor, verb="policy_deactivate", target=kept, detail=detail)


@transaction.atomic
def policy_set_registry(*, policy: Policy, actor: User | None, registry: Registry | None) -> None:
    """Say whose newest tools are offered.

    Raises InvalidDocument where a rule in force asks for the tools on offer and the registry has none.
    """
    kept = Policy.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=policy.pk)
    kept.registry = registry
    if kept.active is not None:
        _require_tools(kept, Rules.from_document(kept.active.document))
    kept.save(update_fields=["registry"])
    _registries_look_again(kept.project)
    detail = {"policy": kept.slug, "registry": registry.slug if registry else None}
    audit_record(project=kept.project, actor=actor, verb="policy_set_registry", target=kept, detail=detail)


@transaction.atomic
def policy_delete(*, policy: Policy, actor: User | None) -> None:
    """Delete a policy with its versions. Nothing asks it from now on."""
    detail = {"slug": policy.slug, "was": policy.active.number if policy.active else None}
    audit_record(project=policy.project, actor=actor, verb="policy_delete", target=policy, detail=detail)
    policy.delete()
    _registries_look_again(policy.project)


def _document(rules: Rules, policy: Policy, number: int) -> JsonValue:
    return replace(rules, name=policy.name, version=number).to_document()


def _require_tools(policy: Policy, rules: Rules) -> None:
    """Raise InvalidDocument where a rule that is asked needs the tools on offer, and no version of tools is there."""
    if policy.registry is not None and policy.registry.deleted_at is None and policy.registry.versions.exists():
        return
    for name, each in sorted(rules.rules.items()):
        if each.mode != "off" and each.rule.kind == "schema":
            words = "asks for the tools on offer: give the policy a registry that has a version, or switch the rule off"
            raise InvalidDocument.at(f"/rules/{name}", words)


def _registries_look_again(project: Project) -> None:
    """Have registries destroyed once more that are only there for the policies that took their tools from them."""
    Registry.with_trash.filter(project=project).exclude(destroyed_at=None).update(destroyed_at=None)
