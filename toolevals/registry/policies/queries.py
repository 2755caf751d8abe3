"""Read the policy that is in force, compiled."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Subquery

from toolevals.grading.guard import Guard, compile_policy
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion, ToolList, ToolListEntry
from toolevals.registry.policies.models import Policy, PolicyVersion
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Project

# So many compiled policies are kept by a process.
MOST_KEPT = 64


class ActivePolicy(NamedTuple):
    """A policy in force: its id and slug, the number of its version, its guard, and the id of the tools it knows."""

    policy: UUID
    slug: str
    number: int
    guard: Guard
    tools: UUID | None


def active_guard(project: Project, slug: str | None) -> ActivePolicy | None:
    """Return the policy in force of a project, or the one with this slug; None where it is not in force.

    A process compiles its guard once for a version and the newest tools of the policy's registry. Raises
    InvalidDocument where several are in force and no slug is given.
    """
    active = Policy.objects.filter(project=project, active__isnull=False, **({} if slug is None else {"slug": slug}))
    newest = RegistryVersion.objects.filter(registry=OuterRef("registry")).order_by("-number")
    offered = active.annotate(tools=Subquery(newest.values("tools")[:1]))
    found = list(offered.values_list("pk", "slug", "active", "active__number", "tools")[:2])
    if len(found) > 1:
        raise InvalidDocument.at("/policy", "is missing: this project has several active policies; name one")
    if not found:
        return None
    [(policy, name, version, number, tools)] = found
    return ActivePolicy(policy, name, number, _guard(version, tools), tools)


def policies_in_force(project: Project) -> dict[str, Rules]:
    """Return the rules of each policy of a project that is in force, by its slug."""
    found = Policy.objects.in_project(project).filter(active__isnull=False)
    return {each.slug: Rules.from_document(each.active.document) for each in found if each.active is not None}


def guard_of(version: PolicyVersion) -> Guard:
    """Return the guard of a version with the newest tools of the policy's registry."""
    return _guard(version.pk, tools_of(version.policy))


def tools_of(policy: Policy) -> UUID | None:
    """Return the id of the list of tools that a policy's registry offers now; None without one."""
    newest = RegistryVersion.objects.filter(registry=policy.registry_id).order_by("-number")
    return newest.values_list("tools", flat=True).first()


def offered_names(policy: Policy) -> list[str]:
    """Return the names of the tools that a policy's registry offers now, in their order."""
    entries = ToolListEntry.objects.filter(tools=tools_of(policy)).order_by("position")
    return list(entries.values_list("spec__name", flat=True))


@lru_cache(maxsize=MOST_KEPT)
def _guard(version: UUID, tools: UUID | None) -> Guard:
    document = PolicyVersion.objects.values_list("document", flat=True).get(pk=version)
    offered = tools_in(ToolList.objects.get(pk=tools)) if tools else ()
    return compile_policy(Rules.from_document(document), offered)
