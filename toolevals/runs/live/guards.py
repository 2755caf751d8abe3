"""Find the policy in front of a live run's agent, and make a guard of it for each conversation."""

from __future__ import annotations

from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.policies.models import PolicyVersion
from toolevals.registry.policies.offered import PolicyGuards, version_named
from toolevals.runs.live.settings import GuardSettings
from toolevals.runs.models import Run
from toolevals.workspace.models import Project


def require_guard(project: Project, connector: str, settings: GuardSettings | None) -> None:
    """Refuse a guard that is not there, or that has nothing to check. Raises InvalidDocument."""
    if settings is None:
        return
    if not CONNECTORS[connector].asks_model:
        words = "has no call to check: the agent calls its tools itself. Grade the run with the policy instead"
        raise InvalidDocument.at("/settings/guard", words)
    _version(project, settings)


def guard_of_run(run: Run, settings: GuardSettings) -> PolicyGuards:
    """Return the guard of a run's agent. Raises InvalidDocument where its policy was deleted meanwhile."""
    version = _version(run.project, settings)
    return PolicyGuards(version, key=settings.key, model=run.agent.model, provider=run.agent.connector)


def _version(project: Project, settings: GuardSettings) -> PolicyVersion:
    try:
        return version_named(project, settings.policy, settings.version)
    except InvalidDocument as error:
        raise error.below("/settings/guard") from None
