"""Find agents and experiments, or make them where they don't exist, and check the secrets that options name."""

from __future__ import annotations

from typing import Protocol

from django.db import transaction

from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import RegistryVersion
from toolevals.runs.baseline import BaselineOptions
from toolevals.runs.models import Agent, Connector, Experiment
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, User
from toolevals.workspace.secrets.services import SecretUnusableError, secret_check


class Keyed(Protocol):
    """Options that name a secret, empty for none, and the address that it is sent to."""

    @property
    def secret(self) -> str: ...

    @property
    def address(self) -> str: ...


def require_secret(project: Project, actor: User | None, options: Keyed | None, pointer: str) -> None:
    """Refuse options whose secret is not there or not bound to their address. Called outside of transactions.

    Raises InvalidDocument at `pointer`.
    """
    if options is None or not options.secret or not options.address:
        return
    try:
        secret_check(project=project, actor=actor, name=options.secret, address=options.address)
    except SecretUnusableError as error:
        raise InvalidDocument.at(pointer, str(error)) from None


@transaction.atomic
def agent_ensure(
    *,
    project: Project,
    actor: User | None,
    name: str,
    connector: str,
    model: str = "",
    prompt_version: str = "",
    commit: str = "",
    tools: RegistryVersion | None = None,
    options: JsonMapping | None = None,
) -> Agent:
    """Return the project's agent that is exactly this, made at the first call. Safe in a race.

    `tools` is the registry version that the agent itself is given, where its wording differs from the dataset's.
    `options` are the connector's; those of the baseline are filled in and carry its version. Raises InvalidDocument.
    """
    if connector not in Connector.values:
        raise InvalidDocument.at("/connector", f"must be one of {', '.join(Connector.values)}")
    if not name.strip():
        raise InvalidDocument.at("/name", "must not be empty")
    if tools is not None and tools.registry.project_id != project.pk:
        raise InvalidDocument.at("/tools", "is not a registry version of this project")
    said = dict(options or {})
    content = {
        "name": name.strip(),
        "connector": connector,
        "model": model.strip(),
        "prompt_version": prompt_version.strip(),
        "commit": commit.strip(),
        "options": _options(connector, model.strip(), said),
    }
    agent, made = Agent.objects.get_or_create(
        project=project,
        digest=digest({**content, "tools": str(tools.pk) if tools else None}),
        defaults={**content, "tools": tools},
    )
    if made:
        detail = {"name": agent.name, "connector": connector}
        audit_record(project=project, actor=actor, verb="agent_ensure", target=agent, detail=detail)
    return agent


def _options(connector: str, model: str, said: JsonObject) -> JsonObject:
    if connector == Connector.BASELINE:
        return BaselineOptions.from_document(said).to_document()
    if connector in CONNECTORS:
        return CONNECTORS[connector].read(said, model).to_document()
    return said


@transaction.atomic
def experiment_ensure(*, project: Project, actor: User | None, slug: str, name: str | None = None) -> Experiment:
    """Return the project's experiment of that slug, made at the first call. Safe in a race."""
    title = (name or "").strip() or slug
    experiment, made = Experiment.objects.get_or_create(project=project, slug=slug, defaults={"name": title})
    if made:
        audit_record(project=project, actor=actor, verb="experiment_ensure", target=experiment, detail={"slug": slug})
    return experiment
