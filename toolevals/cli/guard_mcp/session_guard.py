"""Asks a policy about the tools, calls and results of one session, and keeps what came before."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from toolevals.cli.guard_mcp.policies import PolicySource
from toolevals.grading.guard import (
    NO_RESULT,
    Decision,
    PastCall,
    Policy,
    Reason,
    Request,
    State,
    compile_policy,
)
from toolevals.grading.reading.specs import survey_tools
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject, JsonValue

# The rules that can be asked about a tool before it is called.
LISTING: Final = frozenset({"keys", "servers", "blocked", "injection"})
MOST_CALLS: Final = 10_000
"""The most calls of a session that are kept. The rules count up to 2,000."""
KEPT_CHARACTERS: Final = 16_000_000
"""The most characters of results that are kept. Older results are forgotten, their calls are not."""
MINUTE: Final = 60.0
NO_POLICY: Final = "policy_file"
"""Stands for a rule in the reasons where the policy has expired."""


@dataclass(eq=False, slots=True)
class SessionCall:
    """A call that was let through. Until its result has passed, it counts as one that reports an error."""

    past: PastCall
    size: int = 0


class SessionGuard:
    """The guard of one session, by the policy that `policies` gives at the time.

    `about` holds the key, model, provider and server that the policy's lists name. After `pause` seconds without a
    call, the next one begins a new request of the user; None says that the session is one request. The user's words are
    not known.
    """

    def __init__(
        self,
        policies: PolicySource,
        *,
        about: Request = Request(),  # noqa: B008 (a frozen value)
        pause: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policies = policies
        self.about = about
        self._pause = pause
        self._clock = clock
        self._tools: Sequence[JsonValue] = ()
        self._take(policies().policy)
        self._calls: list[SessionCall] = []
        self._request_from = 0
        self._last = clock()
        self._minute: deque[tuple[float, str]] = deque()
        self._kept = 0

    def offer(self, tools: Sequence[JsonValue]) -> None:
        """Take the tools that the server lists, in the protocol's form. One that cannot be read is not offered."""
        self._tools = tools
        self._take(self._policies().policy)

    def _take(self, policy: Policy) -> None:
        """Compile a policy with the tools, and find those that may not be called at all."""
        self._policy = policy
        listing = {name: each for name, each in policy.rules.items() if each.rule.kind in LISTING}
        self._listing = compile_policy(replace(policy, rules=listing))
        self._guard = compile_policy(policy, specs_of(self._tools))
        decisions = {tool["name"]: self._listed(tool) for tool in self._tools if _is_named(tool)}
        self._hidden = {name: decision for name, decision in decisions.items() if not decision.allowed}

    def _undecided(self) -> Decision | None:
        """Take the policy of the time where it is another. Return the decision where there is none to ask."""
        policy, problem = self._policies()
        if policy is not self._policy:
            if policy != self._policy:
                self._take(policy)
            self._policy = policy
        if not problem:
            return None
        reason = (Reason(NO_POLICY, "", problem),)
        is_open = policy.on_error == "allow"
        return Decision(is_open, () if is_open else reason, unanswered=reason)

    def listed(self, tool: JsonObject) -> Decision:
        """Return the decision on a tool: if it may be called at all, and if what it says of itself may be read."""
        return self._undecided() or self._listed(tool)

    def _listed(self, tool: JsonObject) -> Decision:
        asked = replace(self.about, name=tool["name"])
        counts = State(requests_last_minute=0, tokens_last_minute=0, tool_calls_last_minute={})
        decision = self._listing.check(asked, replace(counts, is_late=self._deadline()))
        if not decision.allowed:
            return decision
        return self._listing.check(replace(asked, result=tool), State(is_late=self._deadline()))

    def check_call(self, name: str, arguments: JsonValue) -> tuple[Decision, SessionCall | None]:
        """Return the decision on a call, and where it is allowed the call, which counts from now on."""
        now = self._clock()
        if self._pause is not None and now - self._last > self._pause:
            self._request_from = len(self._calls)
        self._last = now
        decision = self._undecided() or self._hidden.get(name) or self._asked(name, arguments, now)
        self._minute.append((now, ""))
        if not decision.allowed:
            return decision, None
        self._minute.append((now, name))
        call = SessionCall(PastCall(name, arguments, is_error=True))
        self._calls.append(call)
        if len(self._calls) > MOST_CALLS:
            self._kept -= self._calls.pop(0).size
            self._request_from = max(0, self._request_from - 1)
        return decision, call

    def check_result(self, call: SessionCall, result: JsonValue, *, is_error: bool, size: int) -> Decision:
        """Return the decision on what a server answers to a call: its result, or the error that it reports.

        `size` is how many characters were answered. What is refused is not there for what comes after.
        """
        asked = replace(self._request(call.past.name, call.past.arguments), result=readable(result))
        decision = self._undecided() or self._guard.check(asked, State(is_late=self._deadline()))
        self._last = self._clock()
        if decision.allowed:
            call.past = replace(call.past, result=answer_of(result), is_error=is_error)
            self._kept += size - call.size
            call.size = size
            self._forget_old()
        return decision

    def take_back(self, call: SessionCall) -> None:
        """Forget a call that was not made: the server wants to know more first."""
        if call in self._calls:
            place = self._calls.index(call)
            self._calls.remove(call)
            self._request_from -= place < self._request_from

    def _asked(self, name: str, arguments: JsonValue, now: float) -> Decision:
        return self._guard.check(self._request(name, arguments), self._state(now))

    def _request(self, name: str, arguments: JsonValue) -> Request:
        return replace(self.about, name=name, arguments=arguments)

    def _state(self, now: float) -> State:
        while self._minute and self._minute[0][0] <= now - MINUTE:
            self._minute.popleft()
        counts = Counter(name for _, name in self._minute)
        return State(
            calls=tuple(call.past for call in self._calls),
            request_from=self._request_from,
            user_texts=None,
            requests_last_minute=counts.pop("", 0),
            tool_calls_last_minute=counts,
            is_late=self._deadline(),
        )

    def _deadline(self) -> Callable[[], bool]:
        until = self._clock() + self._policy.deadline_ms / 1000
        return lambda: self._clock() > until

    def _forget_old(self) -> None:
        for call in self._calls:
            if self._kept <= KEPT_CHARACTERS:
                return
            self._kept -= call.size
            call.size = 0
            call.past = replace(call.past, result=NO_RESULT)


def specs_of(tools: Iterable[JsonValue]) -> list[ToolSpec]:
    """Return the specs of the tools that can be read. Where a schema cannot be used, the rule about it cannot tell."""
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        try:
            surveyed = survey_tools({"tools": [tool]}, format="mcp").tools
        except InvalidDocument:
            continue
        for spec in (each.tool or each.unchecked for each in surveyed):
            if spec is not None:
                found[spec.name] = spec
    return list(found.values())


def _is_named(tool: JsonValue) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def readable(result: JsonValue) -> JsonValue:
    """Return a result without the bytes of pictures, sounds and files, which no rule reads."""
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(content, list):
        return result
    return {**result, "content": [_without_bytes(block) for block in content]}


def _without_bytes(block: Any) -> JsonValue:
    if not isinstance(block, dict):
        return block
    if block.get("type") in ("image", "audio"):
        return {name: value for name, value in block.items() if name != "data"}
    resource = block.get("resource")
    if isinstance(resource, dict) and not str(resource.get("mimeType", "")).startswith("text/"):
        return {**block, "resource": {name: value for name, value in resource.items() if name != "blob"}}
    return block


def answer_of(result: JsonValue) -> JsonValue:
    """Return a result as origins are looked for in it: its texts and its structured content, alone where it is one."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    parts = list(_texts(result["content"]))
    if result.get("structuredContent") is not None:
        parts.append(result["structuredContent"])
    return parts[0] if len(parts) == 1 else parts


def _texts(content: Iterable[Any]) -> Iterator[JsonValue]:
    for block in content:
        if isinstance(block, dict):
            resource = block.get("resource")
            text = resource.get("text") if isinstance(resource, dict) else block.get("text")
            if isinstance(text, str):
                yield text


def sentences(reasons: Iterable[Reason]) -> str:
    """Return what a model is told of a refusal, each sentence once."""
    return " ".join(dict.fromkeys(reason.sentence for reason in reasons))
