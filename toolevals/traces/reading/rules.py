"""Lists the online rules in one table: what can be said of a trace without gold. Each is bound to a kind of span."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.layers.recovery import arguments_key, grade_recovery
from toolevals.grading.layers.result_use import grade_result_use
from toolevals.grading.values import ToolCall
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.tools import candidates
from toolevals.grading.values.verdicts import Status, Verdict
from toolevals.traces.reading.calls import UsedTool
from toolevals.traces.reading.limits import NO_LIMITS, Limits, cost_verdict
from toolevals.traces.reading.safety import safety_verdict
from toolevals.traces.reading.traces import TraceReading

# What the names of policies' rules begin with; the policy's short name follows.
POLICY_RULE: Final = "policy:"
# So often in succession the same call is a loop: a second time may be a second look.
LOOP_LENGTH: Final = 3


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The verdict of a rule on one span; `span_id` is empty for a call that no span ran."""

    rule: str
    span_id: str
    status: Status
    value: float | None
    reason: str
    version: int


Found = Iterable[tuple[str, Verdict]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name and version, what it asks in words, and the kind of span that it judges; empty for the trace."""

    name: str
    version: int
    title: str
    kind: str
    ask: Callable[[TraceReading, Sequence[UsedTool], Limits], Found]

    @property
    def policy(self) -> str:
        """Return the short name of the policy that is asked; empty for a rule of toolevals."""
        return self.name.removeprefix(POLICY_RULE) if self.name.startswith(POLICY_RULE) else ""

    @property
    def judge(self) -> str:
        """Return whose verdict it is: no one's."""
        return ""

    @property
    def model(self) -> str:
        """Name the model that is asked: none."""
        return ""


def verdicts_of(
    trace: TraceReading, used: Sequence[UsedTool], limits: Limits = NO_LIMITS, policies: Iterable[Rule] = ()
) -> list[RuleVerdict]:
    """Return what every rule, and each of `policies`, says of a trace.

    A rule that breaks is errored there, and the others go on.
    """
    return [verdict for rule in (*RULES, *policies) for verdict in _asked(rule, trace, used, limits)]


def _asked(rule: Rule, trace: TraceReading, used: Sequence[UsedTool], limits: Limits) -> list[RuleVerdict]:
    try:
        found = list(rule.ask(trace, used, limits))
    except Exception as error:  # noqa: BLE001 - a defect of ours is no failure of the agent
        found = [(_root(trace), Verdict("errored", None, f"The rule crashed: {type(error).__name__}."))]
    return [
        RuleVerdict(rule.name, span_id, said.status, said.value, said.reason, rule.version) for span_id, said in found
    ]


def _root(trace: TraceReading) -> str:
    root = trace.root
    return root.span.span_id if root else ""


def _schema(_: TraceReading, used: Sequence[UsedTool], __: Limits) -> Iterator[tuple[str, Verdict]]:
    for each in used:
        if each.arguments_fit is not None:
            yield each.span_id, _verdict(each.arguments_fit, f"{each.tool}: {each.problem}")
        elif each.problem:
            yield each.span_id, Verdict("unscored", None, each.problem)


def _shape(_: TraceReading, used: Sequence[UsedTool], __: Limits) -> Iterator[tuple[str, Verdict]]:
    for each in used:
        if each.arguments is None:
            yield each.span_id, Verdict("unscored", None, f"{each.tool}: nothing says the arguments.")
        else:
            yield (
                each.span_id,
                _verdict(isinstance(each.arguments, dict), f"{each.tool}: the arguments are not an object."),
            )


def _offered(trace: TraceReading, used: Sequence[UsedTool], _: Limits) -> Iterator[tuple[str, Verdict]]:
    missing = tools_not_offered(trace, used)
    for each in used if trace.tools else ():
        if each.tool in missing and trace.damage:
            yield each.span_id, Verdict("unscored", None, f"{each.tool}: the trace came cut, perhaps without it.")
        else:
            yield each.span_id, _verdict(each.tool not in missing, f"{each.tool} was not offered.")


def tools_not_offered(trace: TraceReading, used: Sequence[UsedTool]) -> set[str]:
    """Return the tools that were called and are not among those that were offered; none where none were."""
    tools = trace.tools
    names = {tool.name for tool in tools}
    called = {each.tool for each in used} - names if names else set()
    return {name for name in called if len(candidates(name, tools)) != 1}


def _result_use(trace: TraceReading, _: Sequence[UsedTool], __: Limits) -> Iterator[tuple[str, Verdict]]:
    transcript = spoken(trace.transcript)
    if any(message.role == "tool" for message in transcript.messages):
        yield _root(trace), grade_result_use(transcript).verdict


def _recovery(trace: TraceReading, _: Sequence[UsedTool], __: Limits) -> Iterator[tuple[str, Verdict]]:
    found = grade_recovery(spoken(trace.transcript), tools={tool.name: tool for tool in trace.tools})
    if found.episodes:
        yield _root(trace), found.verdict


def _loops(trace: TraceReading, used: Sequence[UsedTool], _: Limits) -> Iterator[tuple[str, Verdict]]:
    if used:
        length, tool = longest_loop(trace, used)
        reason = f"{tool} was called {length} times in succession with the same arguments."
        yield _root(trace), _verdict(length < LOOP_LENGTH, reason)


def longest_loop(trace: TraceReading, used: Sequence[UsedTool]) -> tuple[int, str]:
    """Return how often the same call came in succession at most, and its tool."""
    before: Any = None
    length, worst = 0, (0, "")
    for call in trace.transcript.calls or [_call_of(each) for each in used]:
        key = (call.name, arguments_key(call)) if isinstance(call, ToolCall) else None
        length = length + 1 if key is not None and key == before else 1
        before = key
        worst = max(worst, (length, (call.name if call else None) or ""))
    return worst


def _cost(trace: TraceReading, _: Sequence[UsedTool], limits: Limits) -> Iterator[tuple[str, Verdict]]:
    verdict = cost_verdict(trace, limits)
    if verdict is not None:
        yield _root(trace), verdict


def _safety(trace: TraceReading, _: Sequence[UsedTool], limits: Limits) -> Iterator[tuple[str, Verdict]]:
    yield _root(trace), safety_verdict(trace, limits.guard)


def _call_of(used: UsedTool) -> ToolCall | None:
    """Return the call that a span ran; None where nothing says with which arguments: it may be like no other."""
    return ToolCall(used.tool, used.arguments) if isinstance(used.arguments, dict) else None


def _verdict(passed: bool, reason: str) -> Verdict:
    return Verdict("passed", 1.0) if passed else Verdict("failed", 0.0, reason)


RULES: Final = (
    Rule("schema", 2, "Arguments fit the schema", "tool", _schema),
    Rule("shape", 1, "Arguments are an object", "tool", _shape),
    Rule("offered", 2, "The tool was offered", "tool", _offered),
    Rule("result_use", 4, "The answer matches the tool results", "", _result_use),
    Rule("recovery", 3, "Tool errors are handled", "", _recovery),
    Rule("loops", 1, "No call is repeated in a loop", "", _loops),
    Rule("cost", 1, "Tokens and money stay within the limit", "", _cost),
    Rule("privacy_and_safety", 1, "Privacy and safety", "", _safety),
)
# What they say rests on settings or a policy, which may be others since: it is kept, and not asked again.
KEPT: Final = ("cost", "privacy_and_safety")
BY_NAME: Final = {rule.name: rule for rule in RULES}
