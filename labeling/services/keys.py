"""Change a person's own keys."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from labeling.models import KeyBindings
from labeling.queue.keyboard import ACTIONS, binding_problems
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


@transaction.atomic
def keys_set(*, actor: User, bindings: Mapping[str, str]) -> KeyBindings:
    """Keep a person's keys by the names of actions; what is the usual key, or is not named, is the usual one.

    Raises InvalidDocument, with a pointer `/<action>`, for a key that cannot be had or that two actions would share.
    """
    usual = {action.name: action.key for action in ACTIONS}
    own = {name: key for name, key in bindings.items() if key != usual.get(name)}
    problems = binding_problems(own)
    if problems:
        raise InvalidDocument([Problem(f"/{name}", words) for name, words in problems.items()])
    kept, _ = KeyBindings.objects.update_or_create(user=actor, defaults={"bindings": own})
    audit_record(project=None, actor=actor, verb="keys_set", target=kept)
    return kept
