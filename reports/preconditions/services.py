"""Tell what is done with suggested preconditions: a person adds one to a policy."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from reports.preconditions.queries import suggestions
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.services import version_publish
from toolevals.workspace.models import Role, User

# The rule that takes suggestions; others of its kind stay as they are.
RULE: Final = "learnt"


@transaction.atomic
def precondition_add(*, policy: Policy, actor: User | None, role: Role, tool: str, after: str) -> PolicyVersion:
    """Return a new version of a policy with a suggested precondition, in a rule in audit. It is not in force.

    Raises InvalidDocument where nothing suggests it, and where the newest version has it already.
    """
    Policy.objects.select_for_update(no_key=True).get(pk=policy.pk)
    pairs = {(each.pair.tool, each.pair.after): each for each in suggestions(policy, role)}
    found = pairs.get((tool, after))
    if found is None:
        raise InvalidDocument.at("/tool", "is not a tool that a suggestion names with this precondition")
    if found.rule:
        raise InvalidDocument.at("/tool", f"has this precondition already: in the rule {found.rule}")
    newest = policy.versions.order_by("-number").first()
    assert newest is not None  # A policy is made with its first version.
    best = found.pair.best
    source = "gold" if best is found.pair.gold else "traces"
    held = f"held in {best.before} of {best.conversations} conversations of {source}"
    return version_publish(
        policy=policy,
        actor=actor,
        document=_with_precondition(newest.document, tool, after),
        note=f"Adds in audit, as it {held}: {tool} only after {after}."[:300],
    )


def _with_precondition(document: JsonMapping, tool: str, after: str) -> JsonObject:
    """Return a policy's document with a precondition in the first rule of the suggestions' that is in audit."""
    rules = dict(document["rules"])
    names = [RULE, *(f"{RULE}-{number}" for number in range(2, len(rules) + 3))]
    name = next(each for each in names if each not in rules or _takes(rules[each]))
    rule = rules.get(name, {"kind": "order", "mode": "audit"})
    new = {"tool": tool, "after": [after]}
    return {**document, "rules": {**rules, name: {**rule, "preconditions": [*rule.get("preconditions", ()), new]}}}


def _takes(rule: JsonMapping) -> bool:
    return bool(rule["kind"] == "order" and rule["mode"] == "audit")
