"""List the five steps from an empty project to its first confusion matrix, each with its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import QuerySet
from django.urls import reverse

from labeling.models import Dataset, DatasetVersion, Example, Revision
from toolevals.registry.models import RegistryVersion
from toolevals.runs.models import Run
from toolevals.workspace.models import Project, Role, within
from toolevals.workspace.requests import ProjectRequest

# What the sample has for a step: a part of `toolevals.sample.services.SamplePart`.
SAMPLE_PARTS: Final = {1: "tools", 2: "examples", 3: "gold", 4: "runs"}
# Beyond this the exact number tells nothing here, and counting would cost.
MANY: Final = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it brings, how far it is, and the button that takes there; `act` is empty for who may not.

    `sample` is the part of the sample that stands in for one's own data, empty where the step needs none.
    """

    number: int
    title: str
    state: str
    words: str
    formats: str
    act: str
    url: str
    is_done: bool
    is_now: bool = False
    sample: str = ""


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The steps in order. The first that is not done is the one to do now.

    `may_add` says whether this person may add the sample's data.
    """

    steps: tuple[Step, ...]
    may_add: bool

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)


def first_steps(request: ProjectRequest) -> FirstSteps:
    """Return how far a project without a graded run is. A bounded number of rows is read."""
    steps = list(_steps(request.project, request.role))
    now = next((step.number for step in steps if not step.is_done), 0)
    may_add = request.role >= Role.ADJUDICATOR
    return FirstSteps(
        tuple(replace(step, is_now=step.number == now, sample=_sample(step, may_add)) for step in steps), may_add
    )


def _sample(step: Step, may_add: bool) -> str:
    return SAMPLE_PARTS.get(step.number, "") if may_add and not step.is_done else ""


def _steps(project: Project, role: Role) -> Iterator[Step]:
    def at(name: str, *rest: str) -> str:
        return reverse(name, args=[project.slug, *rest])

    may_add = role >= Role.ADJUDICATOR
    tools = RegistryVersion.objects.filter(within(project, "registry")).count()
    dataset = Dataset.objects.filter(project=project).order_by("-created_at", "-pk").first()
    examples = _counted(Example.objects.filter(within(project, "dataset")))
    gold = _counted(Revision.objects.filter(within(project, "example__dataset"), gold__isnull=False))
    frozen = DatasetVersion.objects.filter(within(project, "dataset")).order_by("-created_at", "-pk").first()
    run = Run.objects.of_people().filter(project=project).order_by("-number").first()
    people = project.memberships.filter(role__gte=Role.REVIEWER).count()

    yield Step(
        1,
        "Add your tools",
        _number(tools, "version", "versions") if tools else "none yet",
        "The tools that the agent can call, each with a description and a schema.",
        "OpenAPI, MCP servers, OpenAI, Anthropic and Gemini tools, JSON",
        "Add tools" if may_add else "",
        at("registry:registries"),
        bool(tools),
    )
    yield Step(
        2,
        "Add examples",
        _number(examples, "example", "examples") if examples else "none yet",
        "User messages with the conversation so far. You can label the right call later.",
        "JSON Lines, CSV, OpenAI chat and Evals, BFCL, tau-bench",
        "Add examples" if may_add else "",
        at("labeling:import", dataset.slug) if dataset else at("labeling:datasets"),
        bool(examples),
    )
    yield Step(
        3,
        "Two people label",
        f"{gold:,} with gold" if examples else "after step 2",
        "Two people label each example independently. A third decides where they disagree. The result is the "
        "gold label.",
        "in the browser, with keyboard shortcuts; or import existing gold labels in step 2",
        *_labelling(project, role, people),
        bool(gold),
    )
    if gold and frozen is None:
        act, url = "Freeze a version", at("labeling:versions", dataset.slug) if dataset else at("labeling:datasets")
    else:
        act, url = "Connect an agent", at("runs:new")
    yield Step(
        4,
        "An agent runs",
        _number(1, "run, not graded yet", "") if run else "version frozen" if frozen else "after steps 1 to 3",
        "The agent answers every example of a frozen version. Each call is graded in four layers.",
        "any OpenAI- or Anthropic-compatible endpoint, a webhook, an MCP server, or a file of predictions",
        act if may_add and gold else "",
        url,
        False,
    )
    yield Step(
        5,
        "Read the matrix",
        "after step 4",
        "See which tools the agent confuses, with intervals and the cases behind every number.",
        "as a page, CSV, PNG, SVG or a link",
        "",
        "",
        False,
    )


def _labelling(project: Project, role: Role, people: int) -> tuple[str, str]:
    """Return the button of the third step: invite the second person, or label."""
    if role == Role.OWNER and people < 2:
        return "Invite a reviewer", reverse("workspace:members", args=[project.slug])
    if role >= Role.REVIEWER:
        return "Label examples", reverse("labeling:label", args=[project.slug])
    return "", ""


def _counted(rows: QuerySet[Any]) -> int:
    return rows.order_by()[:MANY].count()


def _number(count: int, one: str, many: str) -> str:
    if count >= MANY:
        return f"{count:,} or more {many}"
    return f"{count:,} {one if count == 1 else many}"
