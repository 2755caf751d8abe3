"""Read the policy that is in force, compiled."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from toolevals.grading.guard import Guard, compile_policy
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion, ToolList
from toolevals.registry.policies.models import Policy, PolicyVersion
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Project

# So many compiled policies are kept by a process.
MOST_KEPT = 64


def active_guard(project: Project, slug: str | None) -> tuple[PolicyVersion, Guard] | None:
    """Return the version of a policy that is in force, with its guard; None where none is.

    Without a slug it is the one policy of the project that is in force. Raises InvalidDocument where there are several.
    """
    found = Policy.objects.in_project(project).filter(active__isnull=False)
    policies = list(found[:2] if slug is None else found.filter(slug=slug))
    if len(policies) > 1:
        raise InvalidDocument.at("/policy", "is missing: several policies of this project are in force; name one")
    version = policies[0].active if policies else None
    if version is None:
        return None
    version.policy = policies[0]
    return version, guard_of(version)


def policies_in_force(project: Project) -> dict[str, Rules]:
    """Return the rules of each policy of a project that is in force, by its slug."""
    found = Policy.objects.in_project(project).filter(active__isnull=False)
    return {each.slug: Rules.from_document(each.active.document) for each in found if each.active is not None}


def guard_of(version: PolicyVersion) -> Guard:
    """Return the guard of a version with the newest tools of the policy's registry.

    A process compiles it once for a version of the policy and one of the tools.
    """
    return _guard(version.pk, tools_of(version.policy))


def tools_of(policy: Policy) -> UUID | None:
    """Return the id of the list of tools that a policy's registry offers now; None without one."""
    if policy.registry_id is None:
        return None
    newest = RegistryVersion.objects.filter(registry=policy.registry_id).order_by("-number")
    return newest.values_list("tools", flat=True).first()


@lru_cache(maxsize=MOST_KEPT)
def _guard(version: UUID, tools: UUID | None) -> Guard:
    document = PolicyVersion.objects.values_list("document", flat=True).get(pk=version)
    offered = tools_in(ToolList.objects.get(pk=tools)) if tools else ()
    return compile_policy(Rules.from_document(document), offered)
