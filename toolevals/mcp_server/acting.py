"""Act for a coding agent: publish a version of tools, start a run, wait for it, and check it by a gate."""

from __future__ import annotations

import time
from typing import Annotated, Any, TypedDict

from toolevals.mcp_server.answers import LONG, shortened
from toolevals.mcp_server.looking import MOST
from toolevals.mcp_server.rest import RefusedError, Rest, part

# A request waits for a job no longer: the client asks again.
MOST_SECONDS, PAUSE = 2, 0.4
ENDED = ("succeeded", "failed", "cancelled")


class NewDescription(TypedDict):
    """A tool of the registry, and the description that it gets."""

    tool: str
    description: str


class Draft(TypedDict):
    """A version of a registry. `changed` are the tools that are other than before."""

    registry: str
    version: int
    changed: list[str]
    page: str


def draft_version(
    rest: Rest,
    registry: Annotated[str, "The slug of a registry, as in show_project."],
    descriptions: Annotated[list[NewDescription], "The tools to change; all others stay as they are."],
    note: Annotated[str, "Why, in a sentence: it stays with the version."],
) -> Draft:
    """Use when descriptions are to be changed or rewritten: publishes the new texts as a registry's next version.

    Nothing is run. Versions are never overwritten, and no agent gets the new one before start_run names it.
    """
    path = f"registries/{part(registry)}/versions/"
    versions = rest.get(path)["results"]
    if not versions:
        raise RefusedError(f"The registry {registry} has no version yet.")
    tools = rest.get(f"{path}{versions[0]['number']}/")["tools"]
    wanted = {each["tool"]: each["description"] for each in descriptions}
    if unknown := wanted.keys() - {tool["name"] for tool in tools}:
        raise RefusedError(f"{registry}@{versions[0]['number']} has no tool {', '.join(sorted(unknown))}.")
    changed = [tool["name"] for tool in tools if wanted.get(tool["name"], tool["description"]) != tool["description"]]
    if not changed:
        raise RefusedError("The draft equals the newest version.")
    document = [{**tool, "description": wanted.get(tool["name"], tool["description"])} for tool in tools]
    made = rest.post(path, {"document": document, "format": "native", "note": note})
    if "number" not in made:
        raise RefusedError("The registry is large: a job publishes it. Publish the change on its page.")
    return Draft(
        registry=registry,
        version=made["number"],
        changed=changed,
        page=rest.page("registry:version", registry, made["number"]),
    )


Like = Annotated[int, "The number of the run to repeat: its agent, dataset and settings are taken."]
OtherVersion = Annotated[int | None, "The version of the agent's registry to give it instead. Null: as in that run."]
OnlyFailing = Annotated[bool, "Only the examples that failed in that run."]


class Estimate(TypedDict):
    """The least that a run takes; `cost` is in the currency of its prices, null where none are known."""

    conversations: int
    input_tokens: int | None
    cost: float | None


def estimate_run(
    rest: Rest, like_run: Like, registry_version: OtherVersion = None, only_failing: OnlyFailing = False
) -> Estimate:
    """Use before anything is started, when asked for the price: what repeating a run costs at least.

    The estimate is in conversations, tokens and money.
    """
    found = rest.post(f"runs/{like_run}/repeat/estimate/", _repetition(registry_version, only_failing))
    return Estimate(conversations=found["conversations"], input_tokens=found["input_tokens"], cost=found["cost"])


class Started(TypedDict):
    """The run that has started; `job` is what wait_for_job takes."""

    run: int
    job: str
    page: str


def start_run(
    rest: Rest, like_run: Like, registry_version: OtherVersion = None, only_failing: OnlyFailing = False
) -> Started:
    """Use when the estimate is fine, to go ahead: runs the agent again, like an earlier run, on all or what failed.

    Name a registry version to measure a change. It asks the agent, which may cost money. An agent whose predictions
    were uploaded can't be asked: upload new ones.
    """
    found = rest.post(f"runs/{like_run}/repeat/", _repetition(registry_version, only_failing))
    number = found["run"]["number"]
    return Started(run=number, job=found["job"]["id"], page=rest.page("reports:run", number))


def _repetition(registry_version: int | None, only_failing: bool) -> dict[str, Any]:
    return {"registry_version": registry_version, "only_failing": only_failing}


class Work(TypedDict):
    """Background work: its state, and how much of it is done."""

    job: str
    title: str
    state: str
    done: int
    total: int | None
    why: str
    page: str


def wait_for_job(rest: Rest, job: Annotated[str, "The id of a job, as in start_run."]) -> Work:
    """Use when asked whether a job is done or has finished: waits until it ends, two seconds at most.

    start_run names the job. Call it again while the job is at work.
    """
    until = time.monotonic() + MOST_SECONDS
    while True:
        found = rest.get(f"jobs/{part(job)}/")
        if found["state"] in ENDED or time.monotonic() > until:
            return Work(
                job=found["id"],
                title=found["title"],
                state=found["state"],
                done=found["done"],
                total=found["total"],
                why=shortened(found["reason"]),
                page=rest.page("workspace:job", found["id"]),
            )
        time.sleep(PAUSE)


class Check(TypedDict):
    """One condition of a gate: what was observed over `count`, its bound, and the reason."""

    name: str
    status: str
    observed: float | None
    count: int
    bound: str
    reason: str


class GateAnswer(TypedDict):
    """The answer of a gate. `status` is "waiting" while it is being decided: call check_gate again with its `check`."""

    check: str
    run: int
    gate: str
    status: str
    baseline: int | None
    checks: list[Check]
    page: str


def check_gate(
    rest: Rest,
    run: Annotated[int, "The number of a run."],
    gate: Annotated[str, "The name of a gate that the project keeps."],
    baseline: Annotated[str, "Another run's number, branch:NAME or last-passing. Empty: as the gate says."] = "",
    check: Annotated[
        str, "The `check` of an earlier answer that was still waiting. Leave empty to start a new check."
    ] = "",
) -> GateAnswer:
    """Use when asked whether a run passes a gate, or may be released: says which checks of the gate failed."""
    name = check or rest.post(f"runs/{run}/gates/", {"name": gate, "baseline": baseline})["gate"]["id"]
    until = time.monotonic() + MOST_SECONDS
    while True:
        found = rest.get(f"gates/{part(name)}/")
        if found["result"] or time.monotonic() > until:
            break
        time.sleep(PAUSE)
    if not found["result"]:
        work = rest.get(f"jobs/{found['job']}/")
        if work["state"] in ("failed", "cancelled"):
            raise RefusedError(f"The check was {work['state']}: {shortened(work['reason'])}")
    return _gate_answer(rest, found)


def _gate_answer(rest: Rest, found: Any) -> GateAnswer:
    result = found["result"] or {"status": "waiting", "checks": []}
    checks = [
        Check(
            name=each["name"],
            status=each["status"],
            observed=each["observed"],
            count=each["count"],
            bound=each["bound"],
            reason=shortened(each["reason"], LONG),
        )
        for each in result["checks"]
    ]
    # What failed first, of many.
    checks.sort(key=lambda each: each["status"] == "passed")
    return GateAnswer(
        check=found["id"],
        run=found["run"],
        gate=found["name"],
        status=result["status"],
        baseline=found["baseline"],
        checks=checks[:MOST],
        page=rest.page("reports:gate", found["id"]),
    )
