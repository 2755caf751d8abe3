"""Makes the sample's tools, dataset and runs in the sample project, or in another to try things with."""

from __future__ import annotations

from labeling.datasets.services import dataset_create
from labeling.models import Dataset, DatasetVersion
from toolevals.registry.models import RegistryVersion
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.models import Connector
from toolevals.runs.runs.services import RunParts, run_start
from toolevals.sample import content
from toolevals.workspace.models import Project, User

# Low: the baseline then almost always calls some tool, and the matrix shows which tools it mistakes for which.
THRESHOLD = 0.02


def tools_make(project: Project, actor: User, *, slug: str, name: str) -> tuple[RegistryVersion, RegistryVersion]:
    """Return the two versions of the shop's tools, which differ in their descriptions alone."""
    registry = registry_create(project=project, actor=actor, slug=slug, name=name)
    before = registry_publish(
        registry=registry, actor=actor, document=content.tools("before"), note="As the agent went live"
    )
    after = registry_publish(
        registry=registry,
        actor=actor,
        document=content.tools("after"),
        note="Every description rewritten to lead with what triggers the tool",
    )
    return before, after


def dataset_make(project: Project, actor: User, *, slug: str, name: str, tools: RegistryVersion) -> Dataset:
    """Return a dataset for the sample's examples, still empty."""
    return dataset_create(
        project=project,
        actor=actor,
        slug=slug,
        name=name,
        description="Decision points from the shop's support chat. Every message is made up.",
        guideline=content.guideline(),
        default_tools=tools,
    )


def runs_make(actor: User, version: DatasetVersion, before: RegistryVersion, after: RegistryVersion) -> None:
    """Start a run of the baseline agent with each wording of the tools; workers do them."""
    project = version.dataset.project
    experiment = experiment_ensure(project=project, actor=actor, slug="descriptions", name="Tool descriptions")
    for wording, tools in (("before", before), ("after", after)):
        agent = agent_ensure(
            project=project,
            actor=actor,
            name=f"baseline, descriptions {wording}",
            connector=Connector.BASELINE,
            tools=tools,
            options={"threshold": THRESHOLD},
        )
        run_start(RunParts(project=project, actor=actor, experiment=experiment, agent=agent, dataset_version=version))
