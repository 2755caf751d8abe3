"""Asks a policy about each call of a tool and each result, in the agent's own process and without network."""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar, cast

from toolevals.grading.guard import NO_RESULT, Decision, PastCall, Reason, Request, State
from toolevals.json_types import JsonValue
from toolevals.sdk.errors import SetUpError, ToolError
from toolevals.sdk.guard.keeping import Kept, PolicyKeeper, place_of_copy, server_of
from toolevals.sdk.guard.model_clients import Asked, GuardedClient, anthropic_client, openai_client
from toolevals.sdk.guard.policy_file import PolicyFile, PolicyFileError, public_key
from toolevals.sdk.guard.refusals import RefusedCall
from toolevals.sdk.writing import json_value

Function = TypeVar("Function", bound=Callable[..., Any])
SERVER, TOKEN, PUBLIC_KEY = "TOOLEVALS_URL", "TOOLEVALS_TOKEN", "TOOLEVALS_GUARD_KEY"
# The rule that reasons name where there is no policy to ask.
NO_POLICY = "policy_file"
_EMPTY = State()


class Conversation:
    """One conversation with a user: what was said, and the calls that were made. Threads may share it."""

    def __init__(self, *texts: str, lists: Mapping[str, Sequence[Any]] | None = None) -> None:
        self._texts = list(texts)
        self._lists = {name: tuple(values) for name, values in (lists or {}).items()}
        self._calls: list[PastCall] = []
        self._request_from = 0
        self.lock = Lock()

    def say(self, text: str) -> None:
        """Note what the user says: it begins a request."""
        with self.lock:
            self._texts.append(text)
            self._request_from = len(self._calls)

    def state(self) -> State:
        """Return what a guard is told of it."""
        return State(tuple(self._calls), self._request_from, tuple(self._texts), self._lists)

    def add(self, call: PastCall) -> int:
        """Note a call that is made, and return its place."""
        self._calls.append(call)
        return len(self._calls) - 1

    def answer(self, place: int, result: JsonValue, *, is_error: bool = False) -> None:
        """Note the result of a call."""
        self._calls[place] = replace(self._calls[place], result=result, is_error=is_error)


class Guard:
    """A project's policy in force, ready in this process.

    `server`, `token` and `public_key` are by default the variables TOOLEVALS_URL, TOOLEVALS_TOKEN and
    TOOLEVALS_GUARD_KEY. `policy` is needed where several are in force. `key`, `model` and `provider` hold for each call
    that does not name its own. `on_error` says what becomes of calls while there is no policy file at all; a file says
    that itself. `cache` is where a copy of the file is kept for the time when the server is away, None for nowhere.
    Raises SetUpError where an address or a key is none, and nothing later.
    """

    def __init__(
        self,
        server: str = "",
        token: str = "",
        *,
        project: str,
        policy: str = "",
        public_key: str | Sequence[str] = "",
        key: str = "",
        model: str = "",
        provider: str = "",
        on_error: Literal["refuse", "allow"] = "refuse",
        cache: Path | str | None = "",
        refresh_seconds: float = 30.0,
    ) -> None:
        if on_error not in ("refuse", "allow"):
            raise SetUpError(f"on_error is {on_error!r}: it is 'refuse' or 'allow'")
        keys = _public_keys(public_key or os.environ.get(PUBLIC_KEY, ""))
        try:
            address = server_of(server or os.environ.get(SERVER, ""))
        except ValueError as error:
            raise SetUpError(str(error)) from None
        self._about = Request(key=key, model=model, provider=provider)
        self._fails_open = on_error == "allow"
        self._current: ContextVar[Conversation | None] = ContextVar("conversation", default=None)
        self._keeper = PolicyKeeper(
            address,
            token or os.environ.get(TOKEN, ""),
            project=project,
            policy=policy,
            public_keys=keys,
            cache=place_of_copy(address, project, policy) if cache == "" else Path(cache) if cache else None,
            seconds=refresh_seconds,
        )

    @property
    def file(self) -> PolicyFile | None:
        """The policy file in use; None where there is none."""
        return self._keeper.kept.file if self._keeper.kept else None

    @property
    def problem(self) -> str:
        """The reason why the policy file is missing or not renewed; empty where it is as it should be."""
        return self._keeper.problem

    def refresh(self) -> bool:
        """Renew the policy file now; return whether that went well."""
        return self._keeper.renew()

    def close(self) -> None:
        """Renew the policy file no more."""
        self._keeper.close()

    def check(
        self,
        name: str,
        arguments: JsonValue = None,
        *,
        result: JsonValue = NO_RESULT,
        key: str = "",
        model: str = "",
        provider: str = "",
        server: str = "",
        state: State = _EMPTY,
    ) -> Decision:
        """Return the decision on a call or, with `result`, on what it gave. `arguments` is none or any JSON value."""
        about = self._about
        request = Request(
            name,
            {} if arguments is None else arguments,
            result,
            key or about.key,
            model or about.model,
            provider or about.provider,
            server=server,
        )
        return self.ask(request, state)

    def ask(self, request: Request, state: State = _EMPTY) -> Decision:
        """Return the decision on a request, as the core decides it, within the policy's deadline."""
        kept = self._keeper.kept
        if kept is None:
            return _undecided(f"No policy is available. {self.problem}", fails_open=self._fails_open)
        if time.time() > kept.expires_at:
            words = f"The policy file expired at {kept.file.expires_at.isoformat()}. {self.problem}"
            return _undecided(words, fails_open=kept.file.policy.on_error == "allow")
        return kept.guard.check(request, replace(state, is_late=_deadline(kept)))

    @contextmanager
    def conversation(self, *texts: str, lists: Mapping[str, Sequence[Any]] | None = None) -> Iterator[Conversation]:
        """Have the calls of protected tools belong to one conversation; `texts` are the user's words so far."""
        talk = Conversation(*texts, lists=lists)
        before = self._current.set(talk)
        try:
            yield talk
        finally:
            self._current.reset(before)

    def protect(self, function: Function) -> Function:
        """Ask before each call of a tool, and about its result; raise RefusedCall where it is refused.

        The tool is a function or a coroutine function, with or without `@tool`. Outside of a conversation each call
        stands alone. Raises ToolError for a generator, whose result no one knows before it is used.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise ToolError(f"{function.__qualname__}: a generator cannot be protected; return the whole result")
        spec = getattr(function, "tool_spec", None)
        name = spec.name if spec is not None else function.__name__
        shown = frozenset(spec.input_schema.get("properties", ())) if spec is not None else None
        signature = inspect.signature(function)

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Call:
            bound = signature.bind(*args, **kwargs)
            given = _given(signature, bound)
            said = {each: json_value(value) for each, value in given.items() if shown is None or each in shown}
            return _Call(self, self._current.get(), name, said)

        if inspect.iscoroutinefunction(function):

            async def asked_later(*args: Any, **kwargs: Any) -> Any:
                call = begin(args, kwargs)
                try:
                    result = await function(*args, **kwargs)
                except Exception as error:
                    call.fail(error)
                    raise
                return call.give(result)

            return cast("Function", functools.wraps(function)(asked_later))

        def asked(*args: Any, **kwargs: Any) -> Any:
            call = begin(args, kwargs)
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                call.fail(error)
                raise
            return call.give(result)

        return cast("Function", functools.wraps(function)(asked))

    def openai(self, client: Any) -> GuardedClient:
        """Return an OpenAI client whose `chat.completions.create` asks the guard about calls and results."""
        return openai_client(client, self._asked("openai"))

    def anthropic(self, client: Any) -> GuardedClient:
        """Return an Anthropic client whose `messages.create` asks the guard about calls and results."""
        return anthropic_client(client, self._asked("anthropic"))

    def _asked(self, provider: str) -> Asked:
        about = self._about
        return Asked(self.ask, replace(about, provider=about.provider or provider))


class _Call:
    """A call of a protected tool, from its beginning to its result. Raises RefusedCall where it is refused."""

    def __init__(self, guard: Guard, talk: Conversation | None, name: str, arguments: JsonValue) -> None:
        self._guard, self._talk, self._name, self._arguments = guard, talk, name, arguments
        self._place = 0
        if talk is None:
            self._require(guard.check(name, arguments), of="call")
            return
        # Asked and noted at once: of two threads one comes second.
        with talk.lock:
            self._require(guard.check(name, arguments, state=talk.state()), of="call")
            self._place = talk.add(PastCall(name, arguments))

    def give(self, result: Any) -> Any:
        said, talk = json_value(result), self._talk
        state = _EMPTY if talk is None else talk.state()
        self._require(self._guard.check(self._name, self._arguments, result=said, state=state), of="result")
        if talk is not None:
            with talk.lock:
                talk.answer(self._place, said)
        return result

    def fail(self, error: Exception) -> None:
        if self._talk is not None:
            with self._talk.lock:
                self._talk.answer(self._place, f"{type(error).__name__}: {error}", is_error=True)

    def _require(self, decision: Decision, *, of: Literal["call", "result"]) -> None:
        if not decision.allowed:
            raise RefusedCall(self._name, decision, of=of)


def _given(signature: inspect.Signature, bound: inspect.BoundArguments) -> dict[str, Any]:
    given = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and name in given:
            given |= given.pop(name)
    return given


def _deadline(kept: Kept) -> Callable[[], bool]:
    until, clock = time.monotonic() + kept.file.policy.deadline_ms / 1000, time.monotonic
    return lambda: clock() > until


def _undecided(words: str, *, fails_open: bool) -> Decision:
    reason = (Reason(NO_POLICY, "", words.strip()),)
    return Decision(True, unanswered=reason) if fails_open else Decision(False, reasons=reason, unanswered=reason)


def _public_keys(given: str | Sequence[str]) -> tuple[str, ...]:
    texts = tuple(each.strip() for each in (given.split(",") if isinstance(given, str) else given) if each.strip())
    if not texts:
        raise SetUpError(f"the guard needs the installation's public key: public_key=... or {PUBLIC_KEY}")
    try:
        for each in texts:
            public_key(each)
    except PolicyFileError as error:
        raise SetUpError(str(error)) from None
    return texts
