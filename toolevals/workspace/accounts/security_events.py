"""Writes into the audit log what changes how an account is protected, as django-allauth tells it."""

from __future__ import annotations

from typing import Any

from allauth.mfa import signals as second_step
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as single_sign_on
from allauth.socialaccount.models import SocialLogin
from django.dispatch import receiver

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

_VERBS = (
    (second_step.authenticator_added, "second_step_add"),
    (second_step.authenticator_removed, "second_step_remove"),
    (second_step.authenticator_reset, "second_step_renew"),
)


@receiver([signal for signal, _ in _VERBS])
def second_step_changed(signal: Any, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record that a second step was added, removed or renewed."""
    verb = next(verb for known, verb in _VERBS if known is signal)
    audit_record(project=None, actor=user, verb=verb, target=user, detail={"kind": authenticator.type})


@receiver(single_sign_on.social_account_added)
def provider_linked(sociallogin: SocialLogin, **_: Any) -> None:
    """Record that a provider of single sign-on stands for a person from now on."""
    user, provider = sociallogin.user, sociallogin.account.provider
    audit_record(project=None, actor=user, verb="provider_link", target=user, detail={"provider": provider})
