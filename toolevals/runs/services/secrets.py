"""Check the secrets that agents, judges and simulators name: refused where their address may not receive them."""

from __future__ import annotations

from typing import Protocol

from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import Project, User
from toolevals.workspace.secrets.services import SecretUnusableError, secret_check


class Keyed(Protocol):
    """Options that name a secret, empty for none, and the address that it is sent to."""

    @property
    def secret(self) -> str: ...

    @property
    def address(self) -> str: ...


def require_secret(project: Project, actor: User | None, options: Keyed | None, pointer: str) -> None:
    """Refuse options whose secret is not there or not bound to their address. Called outside of transactions.

    Raises InvalidDocument at `pointer`.
    """
    if options is None or not options.secret or not options.address:
        return
    try:
        secret_check(project=project, actor=actor, name=options.secret, address=options.address)
    except SecretUnusableError as error:
        raise InvalidDocument.at(pointer, str(error)) from None
