"""Reads promptfoo's results (`promptfoo eval --output results.json`), versions 2 and 3 of its result files.

Source: its types `OutputFile`, `EvaluateSummaryV3` and `EvaluateResult`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import (
    content_of,
    example_of,
    expectation_of,
    expected_answer,
    json_in,
    said_in,
    transcript_of,
)
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    counted,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, judged
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.parsing.extras import is_count
from toolevals.grading.values import CallExpectation, Expectation, Trajectory, Transcript
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_RESULT = keys(
    "id evalId createdAt updatedAt promptIdx testIdx testCase promptId provider prompt vars response error success "
    "score latencyMs gradingResult namedScores cost metadata failureReason description tokenUsage"
)
_WORDS = frozenset({"equals", "contains"})


def detect(document: JsonValue) -> str | None:
    """Return why a document is a result file; None where it is none."""
    results = document.get("results") if isinstance(document, Mapping) else None
    if isinstance(results, Mapping) and isinstance(results.get("results"), list) and "config" in document:
        return f"has config, and results with a list of results (version {results.get('version')})"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each result: the test as an example, and what the provider answered.

    Tests have no ids there: an example is named by its prompt and variables. Each pair of provider and prompt is an
    agent of its own; prompts are told apart by their labels.
    """
    outer = object_at(document)
    offered = _offered(outer.get("config"))
    results = outer["results"]["results"]
    several = len({item.get("promptIdx") for item in results if isinstance(item, Mapping)}) > 1
    seen: dict[tuple[str, str], int] = {}
    for place, item in enumerate(results):
        pointer = f"/results/results/{place}"
        try:
            entry = _entry(object_at(item), offered, several=several)
        except InvalidDocument as error:
            yield pointer, error
            continue
        if entry.trial is not None:
            key = (entry.trial.agent, entry.trial.external_id)
            number = seen[key] = seen.get(key, -1) + 1
            trial = entry.trial
            entry = Entry(
                entry.example,
                Trial(trial.external_id, trial.transcript, trial.content, number, trial.agent),
                entry.losses,
            )
        yield pointer, entry


def _entry(item: JsonMapping, offered: JsonMapping, *, several: bool) -> Entry:
    prompt = object_at(item.get("prompt"), "/prompt")
    left: list[Problem] = []
    content = content_of(json_in(prompt.get("raw")), "/prompt/raw", left)
    test = object_in(item, "testCase")
    provider = _name(item.get("provider"))
    tools, losses = tools_in_row(offered.get(provider) or offered.get(""), "/config/providers")
    expectation, more = _expected(test)
    name = f"promptfoo-{digest([content, test.get('assert')])[:16]}"
    transcript = _transcript(item, left)
    losses = (*left, *losses, *more, *unknown_keys(item, _RESULT))
    row = example_of(
        name, "promptfoo", content, tools=tools, expectation=expectation, rationale=_text(test.get("description")),
        losses=losses,
    )  # fmt: skip
    row = judged(row, _rated(item), transcript.messages)
    label = _text(prompt.get("label"))
    agent = f"{provider} · {label}" if several and label else provider
    return Entry(row, Trial(name, transcript, content, agent=agent), row.losses)


def _rated(item: JsonMapping) -> Iterator[Answer]:
    """Yield what a person said of a result on the page: a rating, and a comment. The file does not say who."""
    grading = object_in(item, "gradingResult")
    comment = _text(grading.get("comment"))
    parts = grading.get("componentResults")
    for place, each in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(each, Mapping) and object_in(each, "assertion").get("type") == "human":
            pointer = f"/gradingResult/componentResults/{place}"
            yield Answer("", "rating", each.get("pass"), comment, pointer=pointer)
            return
    if comment:
        yield Answer("", "comment", comment, pointer="/gradingResult/comment")


def _transcript(item: JsonMapping, losses: list[Problem]) -> Transcript:
    response = object_in(item, "response")
    said = said_in(json_in(response.get("output")), "/response/output", losses)
    usage = object_in(response, "tokenUsage")
    counts = counted(input_tokens=usage.get("prompt"), output_tokens=usage.get("completion"))
    latency = item.get("latencyMs")
    # `error` also says why an assertion failed; only the response says that the provider did.
    error = _text(response.get("error")) or ("" if response else _text(item.get("error")) or "no response")
    return transcript_of(
        said,
        usage=counts,
        latency_ms=latency if is_count(latency) else None,
        error=error if error and not said else None,
    )


def _expected(test: JsonMapping) -> tuple[Expectation | None, tuple[Problem, ...]]:
    """Return what the assertions expect. Each that has no form here is a loss that names its type."""
    asserts = test.get("assert")
    expected: Expectation | None = None
    losses: list[Problem] = []
    for place, each in enumerate(asserts if isinstance(asserts, list) else ()):
        pointer = f"/testCase/assert/{place}"
        found, said = _assertion(object_at(each, pointer), pointer)
        losses += said
        if found is not None and expected is not None:
            losses.append(Problem(pointer, "comes after another expectation, and only the first one is kept"))
        expected = expected or found
    return expected, tuple(losses)


def _assertion(item: JsonMapping, pointer: str) -> tuple[Expectation | None, tuple[Problem, ...]]:
    kind, value = str(item.get("type")), json_in(item.get("value"))
    if kind == "tool-call-f1":
        names = value if isinstance(value, list) else str(value).split(",")
        calls = tuple(CallExpectation(str(name).strip()) for name in names if str(name).strip())
        return Expectation("calls", alternatives=(Trajectory(unordered=calls, additional_calls=False),)), ()
    if kind == "equals" and isinstance(value, list | dict):
        return expectation_of(value, f"{pointer}/value")
    if kind in _WORDS and isinstance(value, str) and value and "{{" not in value:
        return expected_answer([value]), ()
    return None, (Problem(pointer, f"the assertion {kind} has no form here: left out"),)


def _offered(config: object) -> JsonObject:
    """Return the tools by provider, under "" those of the only provider or of all tests."""
    found: JsonObject = {}
    providers = config.get("providers") if isinstance(config, Mapping) else None
    for each in providers if isinstance(providers, list) else [providers]:
        options = each.get("config") if isinstance(each, Mapping) else None
        if isinstance(options, Mapping) and isinstance(tools := options.get("tools"), list) and tools:
            found[_name(each)] = tools
    if len(found) == 1:
        found[""] = next(iter(found.values()))
    return found


def _name(provider: object) -> str:
    if isinstance(provider, Mapping):
        return _text(provider.get("label")) or _text(provider.get("id"))
    return _text(provider)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
