"""Finds the policy of a session: in a file, or in force in a project, with a copy here for when its server is away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from toolevals.cli.inputs import read_input_text
from toolevals.cli.login import LOCAL, login_for
from toolevals.cli.output import CommandError, Exit
from toolevals.grading.guard import Policy
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# Seconds between two requests for a newer policy.
REFRESH_SECONDS = 30.0
PUBLIC_KEY = "TOOLEVALS_GUARD_KEY"


class PolicyInForce(NamedTuple):
    """A policy, and why it may not be used any more; empty where it may."""

    policy: Policy
    problem: str = ""


PolicySource: TypeAlias = Callable[[], PolicyInForce]


def policy_of_file(path: Path) -> PolicySource:
    """Return the policy that a file holds. Raises CommandError with every problem."""
    try:
        found = PolicyInForce(Policy.from_document(load_json(read_input_text(path))))
    except InvalidDocument as error:
        lines = [f"{path}: {problem}" for problem in error.problems]
        raise CommandError(Exit.DATA, "\n".join(lines)) from None
    return lambda: found


def policy_of_project(project: str, slug: str, public_key: str) -> PolicySource:
    """Return the policy in force in a project, which is renewed; without a slug the only one there is.

    The token is TOOLEVALS_TOKEN's, else that of `toolevals login`. Raises CommandError where there is no policy: the
    server does not answer, and has never answered here.
    """
    try:
        from toolevals.sdk.errors import SetUpError
        from toolevals.sdk.guard import Guard
    except ModuleNotFoundError as error:
        words = 'the policy of a project needs more packages: pip install "toolevals[sdk]"'
        raise CommandError(Exit.CONFIGURATION, words) from error
    server, token = _server_and_token(project)
    try:
        kept = Guard(
            server,
            token,
            project=project,
            policy=slug,
            public_key=public_key or os.environ.get(PUBLIC_KEY, ""),
            refresh_seconds=REFRESH_SECONDS,
        )
    except SetUpError as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    if kept.file is None:
        kept.close()
        raise CommandError(Exit.UNREACHABLE, kept.problem)

    def in_force() -> PolicyInForce:
        file = kept.file
        assert file is not None
        if file.expires_at.timestamp() > time.time():
            return PolicyInForce(file.policy)
        return PolicyInForce(
            file.policy, f"The policy file expired at {file.expires_at.isoformat()}. {kept.problem}".rstrip()
        )

    return in_force


def _server_and_token(project: str) -> tuple[str, str]:
    server = os.environ.get("TOOLEVALS_URL", "").rstrip("/")
    if token := os.environ.get("TOOLEVALS_TOKEN", ""):
        return server or LOCAL, token
    login = login_for(server, project)
    if login is None:
        words = f"no token for the project {project}: run toolevals login, or set TOOLEVALS_TOKEN"
        raise CommandError(Exit.CONFIGURATION, words)
    return login.server, login.token
