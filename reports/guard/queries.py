"""Read what is known of the error rates of a policy's rules, and the calls that they would refuse."""

from __future__ import annotations

from django.db.models import QuerySet

from reports.guard.analysis import MeasuredRule, VersionRates, rule_document
from reports.models import PolicyRates, PolicyRefusal
from toolevals.grading.guard import Policy as Rules
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.queries import tools_of
from toolevals.workspace.models import untrashed


def newest_rates(policy: Policy) -> PolicyRates | None:
    """Return the newest finished measurement of any of the policy's versions."""
    return PolicyRates.objects.in_project(policy.project).filter(version__policy=policy).exclude(rules=None).first()


def rates_at_work(version: PolicyVersion) -> PolicyRates | None:
    """Return the newest measurement of a version where it is not finished."""
    newest = PolicyRates.objects.in_project(version.policy.project).filter(version=version).first()
    return newest if newest is not None and newest.finished_at is None else None


def version_rates(version: PolicyVersion, rates: PolicyRates | None) -> VersionRates:
    """Return the rules of a version with their rates of a measurement, of this version or another.

    A rule that is another now was not measured; nor was a schema rule where other tools are on offer now.
    """
    policy = Rules.from_document(version.document)
    documents = (rates.rules or {}) if rates is not None else {}
    same_tools = rates is not None and rates.tools_id == tools_of(version.policy)
    measured: dict[str, MeasuredRule | None] = {}
    for name, rule in sorted(policy.rules.items()):
        found = documents.get(name)
        measured[name] = None
        if found is not None and found["rule"] == rule_document(rule) and (rule.rule.kind != "schema" or same_tools):
            measured[name] = MeasuredRule.from_document(name, found)
    return VersionRates(policy, measured)


def refusals_of(rates: PolicyRates, rule: str, *, of_gold: bool) -> QuerySet[PolicyRefusal]:
    """Return the calls of runs, or of gold, that a rule would refuse, with what a list shows of them.

    What is in the trash is not listed.
    """
    there = untrashed("revision__example__dataset") if of_gold else untrashed("case__grading__run")
    found = PolicyRefusal.objects.filter(there, rates=rates, rule=rule, case__isnull=of_gold)
    return found.select_related("case__grading__run__agent", "revision__example__dataset").defer(
        "case__detail", "revision__input"
    )
