"""Decide what programs ask the guard, and make the signed policy file by which they decide themselves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from toolevals.grading.guard import Decision, Request, State
from toolevals.json_types import JsonObject
from toolevals.registry.guard_checks.counting import Counted, call_count, call_take_back, refusal_count
from toolevals.registry.guard_checks.days import decision_count
from toolevals.registry.models import ToolList
from toolevals.registry.policies.queries import ActivePolicy, active_guard
from toolevals.registry.tool_lists import tools_in
from toolevals.sdk.guard.policy_file import PolicyFile, public_text, signed
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project
from toolevals.workspace.secrets.services import derived_key

# So long a program decides by a policy file when the server is away.
FILE_KEPT = timedelta(days=3)
PURPOSE = b"toolevals policy files 1"


Count = TypeVar("Count", int, Mapping[str, int])


class Deadline:
    """A moment by which a check is to be done, by a clock that no one sets."""

    def __init__(self, milliseconds: int) -> None:
        self._until = time.monotonic() + milliseconds / 1000

    def is_past(self) -> bool:
        return time.monotonic() > self._until

    @property
    def milliseconds(self) -> int:
        """The whole milliseconds that are left."""
        return max(0, int((self._until - time.monotonic()) * 1000))


class Checked(NamedTuple):
    """A decision, and the policy that decided."""

    policy: ActivePolicy
    decision: Decision


def guard_check(*, project: Project, policy: str | None, request: Request, state: State, tokens: int) -> Checked | None:
    """Return the decision of the policy in force, with the counts of the request's key; None where none is in force.

    The deadline begins once the policy is read: a process compiles each version once, and refuses no call for that.
    A call is counted, a result is not; refusals of both are, and each decision by its day. Counts that the state holds
    are taken as they are. Raises InvalidDocument where several policies are in force.
    """
    found = active_guard(project, policy)
    if found is None:
        return None
    guard = found.guard
    deadline = Deadline(guard.policy.deadline_ms)
    named = {"project": project.pk, "key": request.key, "tool": request.name}
    counted: Counted | None = None
    if not request.has_result:
        counted = call_count(**named, tokens=tokens, milliseconds=deadline.milliseconds)
    decision = guard.check(request, replace(_with_counts(state, request.name, counted), is_late=deadline.is_past))
    # The answer is known; what is counted of it may take as long again.
    deadline = Deadline(guard.policy.deadline_ms)
    if not decision.allowed:
        if counted is not None:
            call_take_back(counted, milliseconds=deadline.milliseconds)
        else:
            refusal_count(**named, milliseconds=deadline.milliseconds)
    decision_count(policy=found.policy, key=request.key, decision=decision, milliseconds=deadline.milliseconds)
    return Checked(found, decision)


def _with_counts(state: State, name: str, counted: Counted | None) -> State:
    if counted is None:
        return state
    before = counted.before
    return replace(
        state,
        requests_last_minute=_first(state.requests_last_minute, before.requests),
        tokens_last_minute=_first(state.tokens_last_minute, before.tokens),
        tool_calls_last_minute=_first(state.tool_calls_last_minute, {name: before.tool_calls}),
    )


def _first(stated: Count | None, counted: Count) -> Count:
    return counted if stated is None else stated


def policy_file(*, project: Project, policy: str | None) -> JsonObject | None:
    """Return the signed file of the policy in force; None where none is. Raises as `guard_check`."""
    found = active_guard(project, policy)
    if found is None:
        return None
    now = database_now()
    file = PolicyFile(
        project=project.slug,
        slug=found.slug,
        policy=found.guard.policy,
        tools=tools_in(ToolList.objects.get(pk=found.tools)) if found.tools else (),
        issued_at=now,
        expires_at=now + FILE_KEPT,
    )
    return signed(file, signing_keys())


def signing_keys() -> Sequence[Ed25519PrivateKey]:
    """Return the keys that sign: of this installation's secret key, and of those that it had before."""
    return [_signing_key(str(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def public_keys() -> list[str]:
    """Return the public keys that belong to them, the one to be trusted from now on first."""
    return [public_text(key) for key in signing_keys()]


@lru_cache(maxsize=16)
def _signing_key(key: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(derived_key(key, PURPOSE))
