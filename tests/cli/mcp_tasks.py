"""Twenty tasks that a coding agent solves by our MCP tools alone, each with its answer computed another way.

A script knows the question, and what earlier answers told it: ids, names and where a list goes on. Its truth is
counted from cases, versions and runs of the REST interface, which the script never asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from math import comb
from typing import Any, Final

Ask = Callable[..., Awaitable[Any]]
# An address of the REST interface below the project, with its JSON.
Rest = Callable[[str], Any]


async def _runs(ask: Ask) -> tuple[int, int]:
    """Return the numbers of the oldest run and the newest."""
    found, runs = await ask("list_runs"), []
    runs += found["runs"]
    while found["next"]:
        found = await ask("list_runs", after=found["next"])
        runs += found["runs"]
    return runs[-1]["run"], runs[0]["run"]


async def _worst(ask: Ask, run: int, *, of_two_tools: bool = False) -> dict[str, Any]:
    found = await ask("find_confusions", run=run, most=20)
    none = "(none)" if of_two_tools else None
    return next(each for each in found["confusions"] if none not in (each["expected"], each["called"]))


def _pair(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {"expected": cell["expected"], "called": cell["called"]}


async def _slug(ask: Ask, of: str) -> str:
    return str((await ask("show_project"))[of][0]["slug"])


async def what_is_confused_most(ask: Ask) -> Any:
    cell = await _worst(ask, (await _runs(ask))[0])
    return cell["expected"], cell["called"], cell["count"], cell["expected_total"]


async def the_newest_run_and_its_tools(ask: Ask) -> Any:
    newest = (await ask("list_runs"))["runs"][0]
    return newest["run"], newest["registry"]


async def how_many_cases_came_out_right(ask: Ask) -> Any:
    newest = (await ask("list_runs"))["runs"][0]
    return newest["outcome"]["passed"], newest["outcome"]["total"]


async def the_dataset_and_its_newest_version(ask: Ask) -> Any:
    dataset = (await ask("show_project"))["datasets"][0]
    return dataset["slug"], dataset["newest"]


async def the_cases_of_the_largest_confusion(ask: Ask) -> Any:
    oldest, _ = await _runs(ask)
    found = await ask("list_cases", run=oldest, **_pair(await _worst(ask, oldest)))
    return {each["example"] for each in found["cases"]}


async def every_failed_case_page_by_page(ask: Ask) -> Any:
    oldest, _ = await _runs(ask)
    found = await ask("list_cases", run=oldest, outcome="failed")
    cases = [each["example"] for each in found["cases"]]
    while found["next"]:
        found = await ask("list_cases", run=oldest, outcome="failed", after=found["next"])
        cases += [each["example"] for each in found["cases"]]
    return sorted(cases)


async def why_one_case_failed(ask: Ask) -> Any:
    oldest, _ = await _runs(ask)
    listed = await ask("list_cases", run=oldest, **_pair(await _worst(ask, oldest)))
    case = await ask("show_case", run=oldest, case=listed["cases"][0]["case"])
    return case["example"], {each["name"] for each in case["verdicts"] if each["status"] == "failed"}


async def what_the_agent_reads_of_a_confused_pair(ask: Ask) -> Any:
    oldest, _ = await _runs(ask)
    read = await ask("read_confusion", run=oldest, **_pair(await _worst(ask, oldest, of_two_tools=True)))
    return {each["tool"]: each["description"] for each in read["descriptions"]}


async def in_which_versions_a_tool_was_reworded(ask: Ask) -> Any:
    cell = await _worst(ask, (await _runs(ask))[0], of_two_tools=True)
    found = await ask("show_tool", registry=await _slug(ask, "registries"), tool=cell["expected"])
    return cell["expected"], {each["version"]: each["description"] for each in found["history"]}


async def a_pair_over_runs(ask: Ask) -> Any:
    cell = await _worst(ask, (await _runs(ask))[0], of_two_tools=True)
    found = await ask("pair_history", **_pair(cell), experiment=await _slug(ask, "experiments"))
    return _pair(cell), {each["run"]: each["confusion"]["count"] for each in found["runs"]}


async def how_many_examples_were_fixed_and_broken(ask: Ask) -> Any:
    oldest, newest = await _runs(ask)
    outcome = (await ask("compare_runs", baseline=oldest, candidate=newest))["changes"][0]
    return outcome["examples"], outcome["fixed"], outcome["broken"]


async def which_examples_broke(ask: Ask) -> Any:
    oldest, newest = await _runs(ask)
    return {each["example"] for each in (await ask("compare_runs", baseline=oldest, candidate=newest))["broken"]}


async def whether_it_was_chance(ask: Ask) -> Any:
    oldest, newest = await _runs(ask)
    found = await ask("compare_runs", baseline=oldest, candidate=newest)
    (selection,) = (each for each in found["changes"] if each["layer"] == "selection")
    return round(selection["p_value"], 12)


async def how_little_gold_the_poorest_tool_has(ask: Ask) -> Any:
    lacking = (await ask("suggest_labels", dataset=await _slug(ask, "datasets")))["lacking"]
    return lacking[0]["have"]


async def where_the_docs_tell_of_a_test(ask: Ask) -> Any:
    sections = (await ask("search_docs", words="exact McNemar"))["sections"]
    return bool(sections) and all("/docs/" in each["address"] for each in sections)


async def what_a_repetition_takes(ask: Ask) -> Any:
    _, newest = await _runs(ask)
    return (await ask("estimate_run", like_run=newest))["conversations"]


async def what_repeating_the_failures_takes(ask: Ask) -> Any:
    oldest, _ = await _runs(ask)
    return (await ask("estimate_run", like_run=oldest, only_failing=True))["conversations"]


async def _draft(ask: Ask, run: int) -> dict[str, Any]:
    """Publish a version in which the tool of the largest confusion says what it is not for."""
    cell = await _worst(ask, run, of_two_tools=True)
    registry = await _slug(ask, "registries")
    tool = await ask("show_tool", registry=registry, tool=cell["called"])
    text = f"{tool['history'][0]['description']} Not for {cell['expected']}: call that instead."
    made: dict[str, Any] = await ask(
        "draft_version",
        registry=registry,
        descriptions=[{"tool": cell["called"], "description": text}],
        note=f"{cell['called']} was called where {cell['expected']} was right",
    )
    return made | {"text": text}


async def a_draft_of_one_description(ask: Ask) -> Any:
    made = await _draft(ask, (await _runs(ask))[1])
    return made["version"], dict.fromkeys(made["changed"], made["text"])


async def _measured(ask: Ask, run: int) -> tuple[int, dict[str, Any]]:
    """Run the agent of a run with a draft, and return the new run with the job's end."""
    version = (await _draft(ask, run))["version"]
    assert (await ask("estimate_run", like_run=run, registry_version=version))["cost"] is None
    started = await ask("start_run", like_run=run, registry_version=version)
    while (work := await ask("wait_for_job", job=started["job"]))["state"] in ("queued", "running"):
        pass
    return started["run"], work


async def a_compared_draft(ask: Ask) -> Any:
    _, newest = await _runs(ask)
    drafted, work = await _measured(ask, newest)
    found = await ask("compare_runs", baseline=newest, candidate=drafted)
    outcome = found["changes"][0]
    return work["state"], newest, drafted, outcome["examples"], outcome["fixed"], outcome["broken"]


async def the_answer_of_a_gate(ask: Ask) -> Any:
    _, newest = await _runs(ask)
    asked = {"run": newest, "gate": "selection"}
    found = await ask("check_gate", **asked)
    while found["status"] == "waiting":
        found = await ask("check_gate", **asked, check=found["check"])
    return found["status"], found["checks"][0]["observed"]


class Truth:
    """The same facts, counted from what the REST interface lists."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest
        self.numbers = [each["number"] for each in rest("runs/?limit=1000")["results"]]
        self.oldest, self.newest = self.numbers[-1], self.numbers[0]

    def cases(self, run: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.rest(f"runs/{run}/graded-cases/?limit=1000")["results"]
        return found

    def confusions(self, run: int) -> Counter[tuple[str, str]]:
        pairs = ((each["expected"], each["actual"]) for each in self.cases(run))
        return Counter(pair for pair in pairs if pair[0] != pair[1])

    def worst(self, run: int) -> tuple[str, str]:
        ((pair, _),) = self.confusions(run).most_common(1)
        return pair

    def of_worst(self) -> list[dict[str, Any]]:
        worst = self.worst(self.oldest)
        return [each for each in self.cases(self.oldest) if (each["expected"], each["actual"]) == worst]

    def moved(self, before: int, after: int, layer: str) -> tuple[set[str], set[str]]:
        """Return the examples that were fixed and that were broken, of those that both runs scored."""
        then, now = ({each["external_id"]: each[layer] for each in self.cases(run)} for run in (before, after))
        fixed = {name for name in then if (then[name], now[name]) == ("failed", "passed")}
        return fixed, {name for name in then if (then[name], now[name]) == ("passed", "failed")}

    def tools(self, version: int) -> dict[str, str]:
        found = self.rest(f"registries/shop-tools/versions/{version}/")["tools"]
        return {each["name"]: each["description"] for each in found}

    def count(self, run: int, status: str) -> int:
        return sum(each["outcome"] == status for each in self.cases(run))


def _confused_most(truth: Truth, answer: Any) -> bool:
    worst = truth.worst(truth.oldest)
    total = sum(each["expected"] == worst[0] for each in truth.cases(truth.oldest))
    return bool(answer == (*worst, truth.confusions(truth.oldest)[worst], total))


def _newest(truth: Truth, answer: Any) -> bool:
    run = truth.rest(f"runs/{truth.newest}/")
    return bool(answer == (truth.newest, "{registry}@{version}".format(**run["agent"]["tools"])))


def _reworded(truth: Truth, answer: Any) -> bool:
    tool, said = answer
    numbers = sorted(each["number"] for each in truth.rest("registries/shop-tools/versions/")["results"])
    texts = {number: truth.tools(number)[tool] for number in numbers}
    return bool(said == {n: text for n, text in texts.items() if text != texts.get(n - 1)})


def _over_runs(truth: Truth, answer: Any) -> bool:
    pair, counts = answer
    key = (pair["expected"], pair["called"])
    return bool(
        counts.keys() == set(truth.numbers) and all(truth.confusions(run)[key] == n for run, n in counts.items())
    )


def _pair_descriptions(truth: Truth, answer: Any) -> bool:
    two = [pair for pair, _ in truth.confusions(truth.oldest).most_common() if "(none)" not in pair]
    most = truth.confusions(truth.oldest)[two[0]]
    ties = [pair for pair in two if truth.confusions(truth.oldest)[pair] == most]
    known = truth.tools(truth.rest(f"runs/{truth.oldest}/")["agent"]["tools"]["version"])
    return bool(set(answer) in map(set, ties) and all(known[name] == text for name, text in answer.items()))


def _chance(truth: Truth, answer: Any) -> bool:
    fixed, broken = map(len, truth.moved(truth.oldest, truth.newest, "selection"))
    fewer, both = min(fixed, broken), fixed + broken
    return bool(answer == round(min(1.0, 2 * sum(comb(both, k) for k in range(fewer + 1)) / 2**both), 12))


def _poorest(truth: Truth, answer: Any) -> bool:
    counts = Counter(each["expected"] for each in truth.cases(truth.oldest))
    return bool(answer == min(counts[name] for name in truth.tools(1)))


def _drafted(truth: Truth, answer: Any) -> bool:
    version, texts = answer
    return bool(truth.tools(version) == truth.tools(version - 1) | texts)


def _compared(truth: Truth, answer: Any) -> bool:
    state, before, after, *counts = answer
    fixed, broken = truth.moved(before, after, "outcome")
    return bool(state == "succeeded" and counts == [len(truth.cases(after)), len(fixed), len(broken)])


def _gated(truth: Truth, answer: Any) -> bool:
    cases = truth.cases(truth.newest)
    share = sum(each["selection"] == "passed" for each in cases) / len(cases)
    return bool(answer[0] == ("passed" if share >= 0.5 else "failed") and abs(answer[1] - share) < 1e-9)


def _layers_that_failed(truth: Truth, answer: Any) -> bool:
    example, failed = answer
    names = ("outcome", "selection", "arguments", "schema", "shape", "equivalence", "execution")
    (row,) = (each for each in truth.of_worst() if each["external_id"] == example)
    return bool(failed & set(names) == {name for name in names if row[name] == "failed"})


# Each task, and whether an answer is true.
TASKS: Final[Mapping[Callable[[Ask], Awaitable[Any]], Callable[[Truth, Any], bool]]] = {
    what_is_confused_most: _confused_most,
    the_newest_run_and_its_tools: _newest,
    how_many_cases_came_out_right: lambda truth, answer: (
        answer == (truth.count(truth.newest, "passed"), len(truth.cases(truth.newest)))
    ),
    the_dataset_and_its_newest_version: lambda truth, answer: (
        answer
        == (
            truth.rest("datasets/")["results"][0]["slug"],
            truth.rest(f"datasets/{answer[0]}/versions/")["results"][0]["number"],
        )
    ),
    the_cases_of_the_largest_confusion: lambda truth, answer: (
        answer == {each["external_id"] for each in truth.of_worst()}
    ),
    every_failed_case_page_by_page: lambda truth, answer: (
        answer
        == sorted(each["external_id"] for each in truth.cases(truth.oldest) if each["outcome"] == "failed")
        and len(answer) > 100
    ),
    why_one_case_failed: _layers_that_failed,
    what_the_agent_reads_of_a_confused_pair: _pair_descriptions,
    in_which_versions_a_tool_was_reworded: _reworded,
    a_pair_over_runs: _over_runs,
    how_many_examples_were_fixed_and_broken: lambda truth, answer: (
        answer == (145, *map(len, truth.moved(truth.oldest, truth.newest, "outcome")))
    ),
    which_examples_broke: lambda truth, answer: answer == truth.moved(truth.oldest, truth.newest, "outcome")[1],
    whether_it_was_chance: _chance,
    how_little_gold_the_poorest_tool_has: _poorest,
    where_the_docs_tell_of_a_test: lambda _, answer: answer is True,
    what_a_repetition_takes: lambda truth, answer: answer == len(truth.cases(truth.newest)),
    what_repeating_the_failures_takes: lambda truth, answer: answer == truth.count(truth.oldest, "failed"),
    a_draft_of_one_description: _drafted,
    a_compared_draft: _compared,
    the_answer_of_a_gate: _gated,
}  # fmt: skip
# Those that publish, start or check something, or ask what only an adjudicator's token may.
ACTS: Final = frozenset({
    what_a_repetition_takes,
    what_repeating_the_failures_takes,
    a_draft_of_one_description,
    a_compared_draft,
    the_answer_of_a_gate,
})  # fmt: skip
