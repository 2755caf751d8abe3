"""Decide who may do what. This module decides; each app's `access.py` holds the table for that app's addresses.

A rule names the least role that may read (GET, HEAD, OPTIONS) and the least that may write (any other method). An
address without a rule is refused to everyone. Making projects and inviting people take the operator's settings, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Final

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from toolevals.workspace.installation.reading import installation_setting
from toolevals.workspace.models import ApiToken, Role, TokenScope, User

Decision = Callable[[User], bool]


def _owns_installation(user: User) -> bool:
    return user.is_installation_owner


def _anyone(_: User) -> bool:
    return True


# The values of WHO_MAKES_PROJECTS, and who that is among people with an account.
PROJECT_MAKERS: Final[dict[str, Decision]] = {"installation-owners": _owns_installation, "everyone": _anyone}
# The values of WHO_INVITES, and who that is among the owners of the project.
INVITERS: Final[dict[str, Decision]] = {"installation-owners": _owns_installation, "project-owners": _anyone}
NO_PROJECTS = (
    "Only installation owners can create projects here. Ask one, or the operator (TOOLEVALS_WHO_MAKES_PROJECTS)."
)
NO_INVITATIONS = "Only owners of the installation invite people here. Ask one, or the operator (TOOLEVALS_WHO_INVITES)."

NO_OPERATIONS = "Only owners of the installation do this. Ask one of them, or the operator."


def may_make_projects(user: User) -> bool:
    """Return whether this person may make projects. Raises `ImproperlyConfigured`."""
    return _decision("WHO_MAKES_PROJECTS", PROJECT_MAKERS)(user)


def may_invite(user: User) -> bool:
    """Return whether this owner of a project may invite people to it. Raises `ImproperlyConfigured`."""
    return _decision("WHO_INVITES", INVITERS)(user)


def _decision(name: str, known: dict[str, Decision]) -> Decision:
    said = installation_setting(name)
    if said not in known:
        raise ImproperlyConfigured(f"{name} is {said!r}: it must be one of {', '.join(known)}")
    return known[said]


READING = ("GET", "HEAD", "OPTIONS")


class Audience(Enum):
    """Those who need no role in a project."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    # By a token alone, which names the project; see `may_send_traces`.
    SENDER = "sends traces"
    # By the token of the settings, or from the machine itself; see `toolevals.workspace.monitoring.operators`.
    OPERATOR = "operator"
    # Whoever holds a token that is not for one thing alone; what they ask has rules of its own.
    HOLDER = "holds a token"


def may_send_traces(token: ApiToken, role: Role) -> bool:
    """Tell whether a token sends traces: one that does nothing else, or one of a role that imports."""
    return token.scope == TokenScope.TRACES or (not token.does_one_thing and role >= Role.ADJUDICATOR)


class Grant(Enum):
    """A right that the operator gives to few people, whatever their role in a project: see `admission`."""

    MAKES_PROJECTS = "makes projects"
    INVITES = "invites"
    OPERATES = "operates"

    def refusal(self, user: User) -> str:
        """Say why a person does not have it; empty where they do."""
        if self is Grant.OPERATES:
            return "" if _owns_installation(user) else NO_OPERATIONS
        if self is Grant.MAKES_PROJECTS:
            return "" if may_make_projects(user) else NO_PROJECTS
        return "" if may_invite(user) else NO_INVITATIONS


@dataclass(frozen=True, slots=True)
class Rule:
    """The least that a request must show for itself. With a `grant`, writing needs that too; a token, an owner's role.

    `delete` is what DELETE needs, where that is more than other writing. A token of the `scope` needs no role.
    """

    read: Role | Audience
    write: Role | Audience | None = None
    grant: Grant | None = None
    delete: Role | None = None
    scope: TokenScope | None = None

    def needs(self, method: str) -> Role | Audience:
        """Return what a request by `method` needs; without a rule for writing, writing needs what reading needs."""
        if method == "DELETE" and self.delete is not None:
            return self.delete
        if method in READING or self.write is None:
            return self.read
        return self.write

    def grant_for(self, method: str) -> Grant | None:
        """Return what the operator must have allowed; where writing needs no other role, reading needs this too."""
        return None if method in READING and self.write is not None else self.grant


@cache
def rules() -> dict[str, Rule]:
    """Return every app's rules by the name of the address, such as "labeling:label"."""
    rules: dict[str, Rule] = {}
    for config in apps.get_app_configs():
        if config.name.startswith("toolevals.") or config.name in ("labeling", "reports"):
            rules.update(import_module(f"{config.name}.access").RULES)
    return rules


RULES = {
    "account_login": Rule(Audience.ANYONE),
    # What a stranger passes on the way to a session, each of them by what they know or have.
    **dict.fromkeys(
        (
            *("account_reset_password", "account_reset_password_from_key"),
            *("mfa_authenticate", "mfa_login_webauthn", "openid_connect_login", "openid_connect_callback"),
            *("saml_login", "saml_acs", "saml_finish_acs", "saml_metadata"),
        ),
        Rule(Audience.ANYONE),
    ),
    **dict.fromkeys(
        (
            *("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
            *("mfa_index", "mfa_activate_totp", "mfa_deactivate_totp", "mfa_add_webauthn", "mfa_remove_webauthn"),
            *("mfa_view_recovery_codes", "mfa_generate_recovery_codes", "usersessions_list"),
        ),
        Rule(Audience.SIGNED_IN),
    ),
    "workspace:session": Rule(Audience.ANYONE),
    "workspace:health": Rule(Audience.ANYONE),
    "workspace:ready": Rule(Audience.ANYONE),
    # What is in every copy of toolevals: agents read it without a session.
    "workspace:docs-markdown": Rule(Audience.ANYONE),
    "workspace:llms": Rule(Audience.ANYONE),
    "workspace:home": Rule(Audience.SIGNED_IN),
    **dict.fromkeys(
        ("workspace:docs", "workspace:docs-search", "workspace:docs-file", "workspace:docs-page"),
        Rule(Audience.SIGNED_IN),
    ),
    "account_logout": Rule(Audience.SIGNED_IN),
    "workspace:profile": Rule(Audience.SIGNED_IN),
    "workspace:password": Rule(Audience.SIGNED_IN),
    "workspace:my-notifications": Rule(Audience.SIGNED_IN),
    "workspace:my-mails-csv": Rule(Audience.SIGNED_IN),
    "workspace:my-notifications-test": Rule(Audience.SIGNED_IN),
    "workspace:my-export": Rule(Audience.SIGNED_IN),
    **dict.fromkeys(
        (
            *("workspace:people", "workspace:people-csv", "workspace:person"),
            *("workspace:person-switch", "workspace:person-delete"),
        ),
        Rule(Audience.SIGNED_IN, grant=Grant.OPERATES),
    ),
    "workspace:deleted-projects": Rule(Audience.SIGNED_IN),
    "workspace:deleted-project-restore": Rule(Audience.SIGNED_IN),
    "workspace:deleted-project-destroy": Rule(Audience.SIGNED_IN),
    "workspace:installation": Rule(Audience.SIGNED_IN, grant=Grant.OPERATES),
    "workspace:installation-test-mail": Rule(Audience.SIGNED_IN, grant=Grant.OPERATES),
    "workspace:project-new": Rule(Audience.SIGNED_IN, grant=Grant.MAKES_PROJECTS),
    "workspace:invitation-link": Rule(Audience.ANYONE),
    "workspace:invitation-accept": Rule(Audience.SIGNED_IN),
    "workspace:invitation-decline": Rule(Audience.SIGNED_IN),
    "workspace:project": Rule(Role.VIEWER),
    "workspace:search": Rule(Role.VIEWER),
    **dict.fromkeys(("workspace:mentions", "workspace:mention", "workspace:mention-names"), Rule(Role.VIEWER)),
    "workspace:settings": Rule(Role.OWNER),
    "workspace:project-export": Rule(Role.OWNER),
    "workspace:project-export-file": Rule(Role.OWNER),
    "workspace:trash": Rule(Role.OWNER),
    "workspace:delete": Rule(Role.OWNER),
    "workspace:trash-restore": Rule(Role.OWNER),
    "workspace:trash-destroy": Rule(Role.OWNER),
    "workspace:members": Rule(Role.VIEWER, Role.OWNER, Grant.INVITES),
    "workspace:invitations-csv": Rule(Role.OWNER),
    "workspace:invitation-renew": Rule(Role.OWNER, grant=Grant.INVITES),
    "workspace:invitation-revoke": Rule(Role.OWNER),
    "workspace:members-csv": Rule(Role.VIEWER),
    "workspace:member-role": Rule(Role.OWNER),
    "workspace:member-remove": Rule(Role.OWNER),
    "workspace:tokens": Rule(Role.OWNER),
    "workspace:tokens-csv": Rule(Role.OWNER),
    "workspace:token-revoke": Rule(Role.OWNER),
    "workspace:secrets": Rule(Role.OWNER),
    "workspace:secrets-csv": Rule(Role.OWNER),
    "workspace:secret-addresses": Rule(Role.OWNER),
    "workspace:secret-forget": Rule(Role.OWNER),
    **dict.fromkeys(
        (
            *("workspace:notifications", "workspace:webhooks-csv", "workspace:deliveries", "workspace:deliveries-csv"),
            *("workspace:webhook", "workspace:webhook-switch", "workspace:webhook-renew"),
            *("workspace:webhook-delete", "workspace:webhook-test"),
            *("workspace-api:webhooks", "workspace-api:webhook", "workspace-api:webhook-secret"),
            *("workspace-api:webhook-test", "workspace-api:deliveries"),
        ),
        Rule(Role.OWNER),
    ),
    "workspace:audit": Rule(Role.OWNER),
    "workspace:audit-csv": Rule(Role.OWNER),
    "workspace:jobs": Rule(Role.VIEWER),
    "workspace:jobs-csv": Rule(Role.VIEWER),
    "workspace:job": Rule(Role.VIEWER),
    "workspace:job-cancel": Rule(Role.ADJUDICATOR),
    "workspace:job-pause": Rule(Role.ADJUDICATOR),
    "workspace:job-resume": Rule(Role.ADJUDICATOR),
    "workspace:job-retry": Rule(Role.ADJUDICATOR),
    "workspace-api:openapi": Rule(Audience.ANYONE),
    "workspace-api:index": Rule(Audience.SIGNED_IN),
    "workspace-api:me": Rule(Audience.SIGNED_IN),
    "workspace-api:projects": Rule(Audience.SIGNED_IN, Audience.SIGNED_IN, Grant.MAKES_PROJECTS),
    **dict.fromkeys(
        (
            *("workspace-api:people", "workspace-api:person", "workspace-api:person-deactivate"),
            *("workspace-api:person-reactivate", "workspace-api:person-delete"),
        ),
        Rule(Audience.SIGNED_IN, grant=Grant.OPERATES),
    ),
    "workspace-api:mentions": Rule(Role.VIEWER),
    "workspace-api:mention-read": Rule(Role.VIEWER),
    "workspace-api:project-exports": Rule(Role.OWNER),
    "workspace-api:project-export-file": Rule(Role.OWNER),
    "workspace-api:deleted-projects": Rule(Audience.SIGNED_IN),
    "workspace-api:deleted-project-restore": Rule(Audience.SIGNED_IN),
    "workspace-api:deleted-project-destroy": Rule(Audience.SIGNED_IN),
    "workspace-api:project": Rule(Role.VIEWER, delete=Role.OWNER),
    "workspace-api:trash": Rule(Role.OWNER),
    "workspace-api:trash-restore": Rule(Role.OWNER),
    "workspace-api:trash-destroy": Rule(Role.OWNER),
    "workspace-api:members": Rule(Role.VIEWER),
    "workspace-api:member": Rule(Role.VIEWER, Role.OWNER),
    "workspace-api:invitations": Rule(Role.OWNER, Role.OWNER, Grant.INVITES),
    "workspace-api:invitation": Rule(Role.OWNER),
    "workspace-api:invitation-renew": Rule(Role.OWNER, grant=Grant.INVITES),
    "workspace-api:tokens": Rule(Role.OWNER),
    "workspace-api:token": Rule(Role.OWNER),
    "workspace-api:secrets": Rule(Role.OWNER),
    "workspace-api:secret": Rule(Role.OWNER),
    "workspace-api:audit": Rule(Role.OWNER),
    "workspace-api:jobs": Rule(Role.VIEWER),
    "workspace-api:job": Rule(Role.VIEWER, Role.ADJUDICATOR),
    "workspace-api:job-pause": Rule(Role.ADJUDICATOR),
    "workspace-api:job-resume": Rule(Role.ADJUDICATOR),
    "workspace-api:job-retry": Rule(Role.ADJUDICATOR),
}
