"""Defines agent runs as lists of steps: thought, action, tool, arguments, result, error; goal, tools, final result.

Reads step lists as agents' frameworks write them, as an AgentRun.

Read: ReAct (`thought`, `action`, `action_input`, `observation`), LangChain's intermediate steps (`[{tool, tool_input},
observation]`), steps with `tool`, `arguments` and `result` (or `tool_used`, `tool_args`, `tool_result`), and
ai-evaluation's trajectories (`tool_calls` with result, success and error in each, `task.description`, `final_result`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from toolevals.grading.reading.parsing.content import result_text
from toolevals.grading.reading.parsing.extras import thought_in
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account, Loss
from toolevals.grading.reading.parsing.text import before_calls, calls_in_text
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolResult, Transcript
from toolevals.grading.values.documents import require_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.thoughts import thoughts_in, without_thoughts
from toolevals.grading.values.transcripts import with_few_calls
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonObject, JsonValue


@value_class
class Step:
    """One step of an agent's loop.

    `action` is what the step says that it does, where that is no call. `results` are in the calls' order, one for each
    call that has one. `observation` is what the agent saw, in its own words or joined from the results. `error` says
    why the step failed, None where nothing says that it did.
    """

    thought: str | None = None
    action: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[ToolResult, ...] = ()
    observation: str | None = None
    error: str | None = None
    is_final: bool = False


@value_class
class AgentRun:
    """The data of trajectory metrics: the same run as a transcript and as steps.

    `available_tools` are names, None where no one said which there were. `final_result` is any JSON value, None where
    there is none. `losses` are the parts of what it was read from that the transcript does not hold.
    """

    goal: str | None
    available_tools: tuple[str, ...] | None
    transcript: Transcript
    final_result: Any
    steps: tuple[Step, ...]
    losses: tuple[Loss, ...] = field(default=(), compare=False)


def run_of_steps(
    steps: tuple[Step, ...],
    *,
    request: str | None = None,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: object = None,
) -> AgentRun:
    """Return the run that these steps are, with its transcript: what the user asked for, then calls and results.

    Thoughts are no words to the user: messages hold them next to what was said. The final result is the answer.
    """
    messages = [] if request is None else [Message("user", request)]
    thought: str | None = None
    for step in steps:
        # What a step calls its action is said to no one where a call says what it is.
        own = step.thought or (step.action if step.calls else None)
        thought = "\n".join(filter(None, (thought, own))) or None
        if step.calls or (step.action is not None and not step.is_final):
            said = None if step.calls else step.action
            messages.append(Message("assistant", said, step.calls, thought=thought))
            thought = None
        messages.extend(
            Message("tool", result.content, call_id=result.call.id if result.call else None, is_error=result.is_error)
            for result in step.results
        )
    answer = None if final_result is None else result_text(final_result)
    if answer is not None or thought is not None:
        messages.append(Message("assistant", answer, thought=None if thought == answer else thought))
    return AgentRun(
        request if goal is None else goal,
        available_tools,
        Transcript(tuple(messages), answer, goal=goal),
        final_result,
        steps,
    )


def run_of(
    transcript: Transcript,
    *,
    goal: str | None = None,
    available_tools: tuple[str, ...] | None = None,
    final_result: object = None,
) -> AgentRun:
    """Return a transcript as a run: every message of the assistant is a step, with the results that follow it.

    A goal that the transcript states goes before the given one; without either it is the user's first message. Without
    a final result it is the answer. A step's thought is what `thought_of` finds in its message.
    """
    results: Iterator[ToolResult] | None = None
    steps: list[Step] = []
    for message in transcript.messages:
        if message.role == "assistant":
            steps.append(_step_of(message))
        elif message.role == "tool":
            results = iter(transcript.results) if results is None else results
            result = next(results)
            if steps:
                steps[-1] = _with_result(steps[-1], result)
    if steps and not steps[-1].calls:
        steps[-1] = replace(steps[-1], is_final=True)
    first = next((message.content for message in transcript.messages if message.role == "user"), None)
    return AgentRun(
        transcript.goal or (first if goal is None else goal),
        available_tools,
        transcript,
        transcript.answer if final_result is None else final_result,
        tuple(steps),
    )


def thought_of(message: Message) -> str | None:
    """Return what the agent thought with a message: what it wrote for itself; else what it said next to its calls.

    Text that is the calls themselves is no thought.
    """
    text = message.content
    own = [each for each in (message.thought, thoughts_in(text) if text else None) if each]
    if own:
        return "\n".join(own)
    if not (text and message.calls):
        return None
    begins = text.lstrip().startswith(("{", "[", "<", "`"))
    if message.from_text or (begins and calls_in_text(text)):
        text = before_calls(text, message.calls)
    return text.strip() or None


def _step_of(message: Message) -> Step:
    if message.calls:
        return Step(thought=thought_of(message), calls=message.calls)
    return Step(thought=thought_of(message), action=without_thoughts(message.content) if message.content else None)


def _with_result(step: Step, result: ToolResult) -> Step:
    seen = result.content if step.observation is None else f"{step.observation}\n{result.content}"
    error = step.error if step.error is not None or not result.is_error else result.content or "failed"
    return replace(step, results=(*step.results, result), observation=seen, error=error)


_STEPS = ("steps", "trajectory", "intermediate_steps")
_REQUEST = ("task", "question", "input")
_ASKED, _MEANT = ("description", "instruction"), ("goal",)
_TOOLS = ("available_tools", "tools")
_FINAL = ("final_result", "final_answer", "final_output", "answer", "output", "result")
_THOUGHT = ("thought", "reasoning", "thoughts")
_ARGUMENTS = ("arguments", "args", "tool_args", "tool_input", "action_input", "parameters", "input")
_RESULT = ("observation", "result", "tool_result", "output")
_TOOL = ("tool", "tool_name", "tool_used")
_NAME = ("name", "tool", "tool_name", "action")
_IDS = ("id", "call_id")
_FAILED = ("error", "success", "is_error", "status")
_ENDS = ("is_final", "final", "done")
# Of several keys of one row the first that is there is read; each of the other keys is read where it is.
_OUTER = (_STEPS, _MEANT, _REQUEST, _TOOLS, _FINAL)
_OF_STEP = (_THOUGHT, _ARGUMENTS, _RESULT, ("tool_calls", "tool_call"), _TOOL, _IDS)
_OF_CALL = (_ARGUMENTS, _RESULT, ("name", "tool", "tool_name", "action"), _IDS)
# Numbers of steps, and the types of calls, say nothing of what was done.
_PLACES = ("step", "step_number", "index", "number", "type")
# What ReAct agents write for "I am done"; what they give it is the final result.
_DONE = frozenset({"final answer", "final_answer", "finish", "final"})


def read_run(document: JsonValue) -> AgentRun:
    """Read a list of steps, or an object with `steps` and perhaps `goal`, `task`, `available_tools`, `final_result`.

    A call that cannot be read is a MalformedCall. A step's `error`, or `success: false`, marks the results of its calls
    as errors. Without a final result, what the step that is final says is it. Raises InvalidDocument where there is no
    list of steps, a step is no object, or a value could not have come from JSON. Every key that is not read is a loss;
    one that looks like a call refuses the list. The list of tools is a loss: a transcript has none.
    """
    require_json(document)
    outer = document if isinstance(document, dict) else {"steps": document}
    key = next((key for key in _STEPS if isinstance(outer.get(key), list)), None)
    if key is None:
        raise InvalidDocument.at("", "holds no list of steps (steps, trajectory or intermediate_steps)")
    prefix = f"/{key}" if outer is document else ""
    identifiers, account = _Identifiers(), Account("a list of steps", "`tool_calls`, `tool_call`, `tool` or `action`")
    if outer is document:
        _account(outer, _OUTER, (), "", account)
        for each in (*_MEANT, *_REQUEST):
            if isinstance(outer.get(each), dict):
                _account(outer[each], (_ASKED,), (*_MEANT, "expected_outcome"), f"/{each}", account)
        if (tools := next((each for each in _TOOLS if isinstance(outer.get(each), list)), None)) is not None:
            account.lost(f"/{tools}", "list of tools")
    read = [_step(item, f"{prefix}/{place}", identifiers, account) for place, item in enumerate(outer[key])]
    said = _first(outer, _FINAL)
    final = said if said is not None else next((each.final for each in reversed(read) if each.final is not None), None)
    steps = tuple(each.step for each in read)
    request, goal = _purpose(outer)
    run = run_of_steps(steps, request=request, goal=goal, available_tools=_tools(outer), final_result=final)
    with_few_calls(run.transcript.messages, prefix)
    return replace(run, losses=account.losses)


def _account(
    item: JsonObject, groups: tuple[tuple[str, ...], ...], others: tuple[str, ...], pointer: str, account: Account
) -> None:
    """Note what is not read of an object: only the first key of each group that is there is read."""
    known = {*others}
    for group in groups:
        known.update(group)
        first = next((key for key in group if item.get(key) is not None and item[key] != []), "")
        for key in group:
            if key != first and item.get(key) not in (None, "", [], {}, False, item.get(first)):
                account.lost(f"{pointer}/{key}", f"{key} next to {first}")
    account.rest(item, frozenset(known), pointer)


@dataclass(frozen=True, slots=True)
class _Read:
    step: Step
    final: Any


class _Identifiers:
    """Gives calls without an id one of their own, `call-<place>`, and takes no id twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._count = 0

    def next(self, given: str | None) -> str:
        self._count += 1
        identifier = given or f"call-{self._count}"
        if identifier in self._taken:
            identifier = f"{identifier}-{self._count}"
        while identifier in self._taken:
            identifier += "'"
        self._taken.add(identifier)
        return identifier


def _step(item: object, pointer: str, identifiers: _Identifiers, account: Account) -> _Read:
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], dict):
        item = {**item[0], "observation": item[1]}
    if not isinstance(item, dict):
        raise InvalidDocument.at(pointer, "a step is not an object")
    _account(item, _OF_STEP, ("action", "name", "function", *_FAILED, *_ENDS, *_PLACES), pointer, account)
    action = item.get("action")
    if isinstance(action, str) and action.strip().lower() in _DONE:
        return _last(item)
    calls = _calls_of(item)
    for place, each in enumerate(calls):
        if each is not item and isinstance(each, dict):
            _account_call(each, _at_call(item, pointer, place), account)
    made = [_called(each, identifiers) for each in calls]
    error, observed = _error(item), _first(item, _RESULT)
    results = tuple(_result_of(call, each) for call, each in made if _has_result(each))
    if not results and (observed is not None or error is not None):
        results = tuple(_result_of(call, item) for call, _ in made)
    step = Step(
        thought=thought_in(_first(item, _THOUGHT)),
        action=action if isinstance(action, str) and not _is_tool(item) else None,
        calls=tuple(call for call, _ in made),
        results=results,
        observation=result_text(observed) if observed is not None else _joined(results),
        error=error or next((result.content or "failed" for result in results if result.is_error), None),
        is_final=any(item.get(key) is True for key in ("is_final", "final", "done")),
    )
    return _Read(step, _words(step) if step.is_final and not step.calls else None)


def _last(item: JsonObject) -> _Read:
    final = _first(item, (*_ARGUMENTS, *_RESULT))
    said = None if final is None else result_text(final)
    thought = thought_in(_first(item, _THOUGHT))
    return _Read(Step(thought, item["action"], (), (), said, _error(item), is_final=True), final)


def _words(step: Step) -> str | None:
    return step.observation or step.action or step.thought


def _calls_of(item: JsonObject) -> list[Any]:
    several = item.get("tool_calls")
    if isinstance(several, list) and several:
        return several
    for key in ("tool_call", "tool", "action"):
        if isinstance(one := item.get(key), dict):
            return [{**_outer_arguments(item), **one}]
    return [item] if _is_tool(item) or any(isinstance(item.get(key), str) and item[key] for key in _TOOL) else []


def _at_call(item: JsonObject, pointer: str, place: int) -> str:
    several = item.get("tool_calls")
    if isinstance(several, list) and several:
        return f"{pointer}/tool_calls/{place}"
    return f"{pointer}/{next(key for key in ('tool_call', 'tool', 'action') if isinstance(item.get(key), dict))}"


def _account_call(call: JsonObject, pointer: str, account: Account) -> None:
    inner = call["function"] if isinstance(call.get("function"), dict) else None
    _account(call, _OF_CALL, ("function", *_FAILED, *_PLACES), pointer, account)
    if inner is not None:
        _account(inner, (_ARGUMENTS, _NAME), (), f"{pointer}/function", account)


def _outer_arguments(item: JsonObject) -> JsonObject:
    return {key: item[key] for key in _ARGUMENTS if key in item}


def _is_tool(item: JsonObject) -> bool:
    """Tell whether a step's action is a tool's name: it has arguments and nothing else names the tool."""
    named = any(item.get(key) for key in (*_TOOL, "tool_call", "tool_calls"))
    return isinstance(item.get("action"), str) and not named and any(key in item for key in _ARGUMENTS)


def _called(item: object, identifiers: _Identifiers) -> tuple[Call, Any]:
    if not isinstance(item, dict):
        return call_of(None, None, identifiers.next(None), shown_as=item), {}
    inner = item["function"] if isinstance(item.get("function"), dict) else item
    name = next((inner[key] for key in _NAME if isinstance(inner.get(key), str) and inner[key]), None)
    # Of a whole step the action describes; the tool's own name comes first.
    if isinstance(tool := _first(inner, _TOOL), str) and "name" not in inner:
        name = tool
    given = _first(inner, _ARGUMENTS)
    return call_of(name, given, identifiers.next(identifier_in(item, "id", "call_id")), shown_as=item), item


def _has_result(item: object) -> bool:
    return isinstance(item, dict) and (_first(item, _RESULT) is not None or _error(item) is not None)


def _result_of(call: Call, item: JsonObject) -> ToolResult:
    value, error = _first(item, _RESULT), _error(item)
    return ToolResult(_readable(call), result_text(value) if value is not None else error or "", error is not None)


def _readable(call: Call) -> ToolCall | None:
    return None if isinstance(call, MalformedCall) else call


def _error(item: JsonObject) -> str | None:
    error = item.get("error")
    if error is not None and error is not False and error != "":
        return "failed" if error is True else result_text(error)
    failed = item.get("success") is False or item.get("is_error") is True or item.get("status") in ("error", "failed")
    return (result_text(_first(item, _RESULT)) or "failed") if failed else None


def _joined(results: tuple[ToolResult, ...]) -> str | None:
    return "\n".join(result.content for result in results) if results else None


def _purpose(outer: JsonObject) -> tuple[str | None, str | None]:
    """Return what the user asked for, and the goal where one is stated: a task is both, unless it tells them apart."""
    task, meant = _first(outer, _REQUEST), outer.get("goal")
    goal = _words_of(meant, (*_MEANT, *_ASKED)) or _words_of(outer.get("task"), (*_MEANT, *_ASKED))
    asked = _words_of(task, (*_ASKED, *_MEANT)) or goal
    outcomes = (each.get("expected_outcome") for each in (meant, task) if isinstance(each, dict))
    if outcome := next((each for each in outcomes if _text(each)), None):
        goal = "\n".join(filter(None, (goal or asked, outcome)))
    return asked, goal


def _words_of(value: object, keys: tuple[str, ...]) -> str | None:
    return _text(_first(value, keys)) if isinstance(value, dict) else _text(value)


def _tools(outer: JsonObject) -> tuple[str, ...] | None:
    tools = next((outer[key] for key in _TOOLS if isinstance(outer.get(key), list)), None)
    if tools is None:
        return None
    names = (_tool_name(tool) for tool in tools)
    return tuple(name for name in names if name)


def _tool_name(tool: object) -> str | None:
    if isinstance(tool, dict):
        inner = tool["function"] if isinstance(tool.get("function"), dict) else tool
        return _text(inner.get("name"))
    return _text(tool)


def _first(item: JsonObject, keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
