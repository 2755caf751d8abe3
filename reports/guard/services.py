"""Tell what is done to policies where their error rates count."""

from __future__ import annotations

from django.db import transaction

from reports.guard.queries import newest_rates, version_rates
from reports.models import PolicyRefusal, RefusalMark
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.services import policy_activate, version_publish
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


def needs_reason(version: PolicyVersion) -> tuple[str, ...]:
    """Return the rules that would be enforced from now on though too little is known of what they refuse.

    Their error rates are not known, or they were not measured over traces.

    What the version in force enforces already, in the same form, needs no reason again.
    """
    known = version_rates(version, newest_rates(version.policy))
    active = version.policy.active
    kept = active.document["rules"] if active else {}
    asking = sorted((*known.unknown, *known.untraced))
    return tuple(name for name in asking if kept.get(name) != version.document["rules"][name])


@transaction.atomic
def version_enforce(*, version: PolicyVersion, actor: User | None, reason: str = "") -> None:
    """Put a version in force.

    Raises InvalidDocument where it enforces a rule of which too little is known and no reason is given, and as
    `policy_activate` does.
    """
    Policy.objects.select_for_update(no_key=True).get(pk=version.policy_id)
    unknown = needs_reason(version)
    if unknown and not reason.strip():
        rules = ", ".join(unknown)
        words = (
            "is missing: how often these rules refuse wrongly is not known, or they were not measured over traces: "
            f"{rules}. Measure them, or give a reason"
        )
        raise InvalidDocument.at("/reason", words)
    policy_activate(version=version, actor=actor, reason=reason if unknown else "")


def modes_change(*, version: PolicyVersion, actor: User | None, modes: dict[str, str], note: str = "") -> PolicyVersion:
    """Return a new version with other modes of some rules. Raises InvalidDocument for an unknown rule or mode."""
    policy = Rules.from_document(version.document)
    if unknown := sorted(set(modes) - set(policy.rules)):
        raise InvalidDocument.at(f"/rules/{unknown[0]}", "is not a rule of this version")
    rules: JsonObject = {
        name: {**document, "mode": modes.get(name, document["mode"])}
        for name, document in version.document["rules"].items()
    }
    return version_publish(policy=version.policy, actor=actor, document={**version.document, "rules": rules}, note=note)


@transaction.atomic
def refusal_mark(*, refusal: PolicyRefusal, actor: User, is_false: bool | None) -> None:
    """Keep what a person says of a refused call: that it should have been allowed, or not; None takes it back.

    The mark holds for the call, in whatever measurement the rule refuses it. It is no gold. The refusal was read by
    `refusals_of`.
    """
    policy = refusal.rates.version.policy
    call = {"policy": policy, "rule": refusal.rule, "subject": vars(refusal)["subject"], "call": refusal.call}
    if is_false is None:
        RefusalMark.objects.filter(**call, person=actor).delete()
    else:
        RefusalMark.objects.update_or_create(**call, person=actor, defaults={"is_false": is_false})
    detail: JsonObject = {"policy": policy.slug, "rule": refusal.rule, "is_false": is_false}
    detail |= {"subject": str(call["subject"]), "call": refusal.call}
    audit_record(project=policy.project, actor=actor, verb="refusal_mark", target=refusal, detail=detail)
