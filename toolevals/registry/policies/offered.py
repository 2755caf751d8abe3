"""Find a version of a policy by its name, and compile it for the tools that conversations offer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from uuid import UUID

from django.db.models import QuerySet

from toolevals.grading.guard import Guard, GuardedConversation, Request, compile_policy
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard.transcripts import PatternFindings, pattern_findings, pattern_rules
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.policies.models import PolicyVersion
from toolevals.workspace.models import Project

# Of one policy, and of all of them together, so many versions are offered.
MOST_OFFERED, MOST_READ = 5, 1_000


def version_named(project: Project, slug: str, number: int | None) -> PolicyVersion:
    """Return a policy's version of that number, without one the newest. Raises InvalidDocument where there is none."""
    found = _versions(project).filter(policy__slug=slug).order_by("-number")
    version = (found if number is None else found.filter(number=number)).first()
    if version is None:
        which = slug if number is None else f"{slug} {number}"
        raise InvalidDocument.at("/policy", f"names no version of a policy of this project: {which}")
    return version


def policies_offered(project: Project) -> list[PolicyVersion]:
    """Return the versions that a person chooses from, by policy: the one in force and the newest MOST_OFFERED."""
    versions = _versions(project).order_by("policy__name", "policy", "-number")[:MOST_READ]
    places: dict[UUID, int] = {}
    chosen = []
    for version in versions:
        places[version.policy_id] = place = places.get(version.policy_id, -1) + 1
        if place < MOST_OFFERED or version.pk == version.policy.active_id:
            chosen.append(version)
    return chosen


def _versions(project: Project) -> QuerySet[PolicyVersion]:
    return PolicyVersion.objects.filter(policy__project=project).select_related("policy")


class PolicyGuards:
    """A policy, with a guard for each list of tools that examples offer. Safe in several threads.

    `rules` stand for those of the version where others of it are asked.
    """

    def __init__(
        self,
        version: PolicyVersion,
        *,
        key: str = "",
        model: str = "",
        provider: str = "",
        rules: Rules | None = None,
    ) -> None:
        self._rules = Rules.from_document(version.document) if rules is None else rules
        self._guards: dict[tuple[str, ...], Guard] = {}
        self.asked = Request(key=key, model=model, provider=provider)

    def of(self, tools: Sequence[ToolSpec]) -> Guard:
        """Return the guard of a list of tools; lists that are alike share one."""
        key = tuple(tool.digest for tool in tools)
        if key not in self._guards:
            self._guards[key] = compile_policy(self._rules, tools)
        return self._guards[key]

    @cached_property
    def _patterns(self) -> Guard | None:
        rules = pattern_rules(self._rules)
        return compile_policy(rules) if rules is not None else None

    def patterns_in(self, transcript: Transcript | None) -> PatternFindings | None:
        """Return what the policy's patterns match in a transcript; None where it has none that are on."""
        if transcript is None or self._patterns is None:
            return None
        return pattern_findings(self._patterns, transcript)

    def conversation(self, tools: Sequence[ToolSpec]) -> GuardedConversation:
        """Return the guard of one conversation in which these tools are offered."""
        return GuardedConversation(self.of(tools), self.asked)
