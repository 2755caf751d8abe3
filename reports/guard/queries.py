"""Read what is known of a policy's rules: their error rates, the calls that they would refuse, and what people say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from reports.guard.analysis import SOURCES, Judged, MeasuredRule, Source, VersionRates, judged_of, rule_document
from reports.models import PolicyRates, PolicyRefusal, RefusalMark
from toolevals.grading.guard import Policy as Rules
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.queries import tools_of
from toolevals.traces.blindness import closed_to
from toolevals.traces.models import Trace
from toolevals.workspace.models import AuditEntry, Role, User, untrashed


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
    judged = judged_refusals(rates) if rates is not None else {}
    measured: dict[str, MeasuredRule | None] = {}
    for name, rule in sorted(policy.rules.items()):
        found = documents.get(name)
        measured[name] = None
        if found is not None and found["rule"] == rule_document(rule) and (rule.rule.kind != "schema" or same_tools):
            measured[name] = replace(MeasuredRule.from_document(name, found), judged=judged.get(name, {}))
    return VersionRates(policy, measured)


# By where calls are recorded, which refusals are of there; what is in the trash is not.
_FROM: Mapping[Source, Q] = {
    "traces": Q(trace__isnull=False),
    "runs": Q(case__isnull=False) & untrashed("case__grading__run"),
    "gold": Q(trace__isnull=True, case__isnull=True, revision__isnull=False) & untrashed("revision__example__dataset"),
}


def source_of(text: str) -> Source:
    """Return the source that a text names; runs for any other text."""
    return next((each for each in SOURCES if each == text), "runs")


def refusals_of(rates: PolicyRates, rule: str, source: Source, role: Role) -> QuerySet[PolicyRefusal]:
    """Return the calls of a source that a rule would refuse, with what a list shows of them to a member of that role.

    What is in the trash is not listed, nor is a trace that is closed to who asks.
    """
    found = _with_subject(PolicyRefusal.objects.filter(_FROM[source], rates=rates, rule=rule))
    if source == "traces":
        project = rates.version.policy.project
        found = found.exclude(trace__in=Trace.objects.in_project(project).filter(closed_to(project, role)))
    marks = RefusalMark.objects.filter(
        policy=rates.version.policy_id, rule=rule, subject=OuterRef("subject"), call=OuterRef("call")
    )
    counts = marks.order_by().values("call")
    shown: QuerySet[PolicyRefusal] = (
        found.annotate(
            marked_false=_count(counts, Q(is_false=True)),
            marked_right=_count(counts, Q(is_false=False)),
        )
        .select_related("case__grading__run__agent", "revision__example__dataset", "trace")
        .defer("case__detail", "revision__input", "trace__text")
    )
    return shown


def refusal_shown(policy: Policy, refusal: UUID, role: Role) -> PolicyRefusal | None:
    """Return a refusal of a measurement of a policy as `refusals_of` lists it; None where it does not."""
    refusals = PolicyRefusal.objects.filter(rates__version__policy=policy)
    found = refusals.select_related("rates__version__policy__project").filter(pk=refusal).first()
    if found is None:
        return None
    source: Source = "traces" if found.trace_id else "runs" if found.case_id else "gold"
    shown = refusals_of(found.rates, found.rule, source, role).filter(pk=found.pk).first()
    if shown is not None:
        shown.rates = found.rates
    return shown


def acts_by_version(policy: Policy, person: User) -> dict[int | None, list[AuditEntry]]:
    """Return when versions were put in force and taken out of it, by number, the oldest first."""
    put = Q(verb="policy_activate", target_id__in=policy.versions.values("pk"))
    taken = Q(verb="policy_deactivate", target_id=policy.pk)
    acts: dict[int | None, list[AuditEntry]] = defaultdict(list)
    for act in AuditEntry.objects.shown_to(person, policy.project).filter(put | taken).order_by("pk"):
        acts[act.detail.get("number" if act.verb == "policy_activate" else "was")].append(act)
    return acts


def own_marks(rates: PolicyRates, rule: str, person: User) -> QuerySet[RefusalMark]:
    """Return what a person says of the calls that a rule refuses."""
    return RefusalMark.objects.filter(policy=rates.version.policy_id, rule=rule, person=person)


def judged_refusals(rates: PolicyRates) -> dict[str, dict[Source, Judged]]:
    """Return what people say of the refused calls of a measurement, by rule and source."""
    said: dict[tuple[str, object, int], list[bool]] = defaultdict(list)
    marks = RefusalMark.objects.filter(policy=rates.version.policy_id)
    for rule, subject, call, is_false in marks.values_list("rule", "subject", "call", "is_false"):
        said[rule, subject, call].append(is_false)
    rules = {rule for rule, _, _ in said}
    found: dict[str, dict[Source, Judged]] = {rule: {} for rule in rules}
    for source in SOURCES if said else ():
        of_source: dict[str, list[list[bool]]] = defaultdict(list)
        rows = _with_subject(PolicyRefusal.objects.filter(_FROM[source], rates=rates, rule__in=rules))
        for rule, subject, call in rows.values_list("rule", "subject", "call").distinct():
            of_source[rule].append(said.get((rule, subject, call), []))
        for rule, each in of_source.items():
            found[rule][source] = judged_of(each)
    return found


def _with_subject(found: QuerySet[PolicyRefusal]) -> QuerySet[Any]:
    """Add the id by which people's marks hold for a call in each measurement."""
    return found.annotate(subject=Coalesce("trace_id", "case__transcript_id", "revision_id"))


def _count(marks: QuerySet[RefusalMark, Any], which: Q) -> Coalesce:
    return Coalesce(Subquery(marks.annotate(count=Count("pk", filter=which)).values("count")), 0)
