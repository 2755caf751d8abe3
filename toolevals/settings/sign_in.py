"""Says how people sign in by django-allauth: which of its forms and adapters are ours, and what it leaves alone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from toolevals.settings.environment import PREFIX

_ACCOUNTS = "toolevals.workspace.accounts"

# Accounts are made by the operator, by invitations and, where the settings say so, at the first single sign-on.
ACCOUNT_ADAPTER = f"{_ACCOUNTS}.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_ENABLED = False
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = False
# Of a link for a new password, in seconds.
PASSWORD_RESET_TIMEOUT = 3600
# A page whose session has ended, or that belongs to another person, signs in where it is.
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")
ACCOUNT_FORMS = {
    "login": f"{_ACCOUNTS}.forms.SignInForm",
    "reauthenticate": f"{_ACCOUNTS}.forms.ConfirmForm",
    "reset_password": f"{_ACCOUNTS}.forms.ResetForm",
    "reset_password_from_key": f"{_ACCOUNTS}.forms.NewPasswordForm",
}
MFA_ADAPTER = f"{_ACCOUNTS}.second_step.SecondStepAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"
# Clocks differ: the codes of half a minute before and after are taken.
MFA_TOTP_TOLERANCE = 1
# Addresses of accounts are what the operator and the owners say they are.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": f"{_ACCOUNTS}.second_step.SecondStepForm",
    "reauthenticate": f"{_ACCOUNTS}.second_step.ConfirmCodeForm",
    "activate_totp": f"{_ACCOUNTS}.second_step.AppForm",
    "add_webauthn": f"{_ACCOUNTS}.second_step.PasskeyForm",
    "login_webauthn": f"{_ACCOUNTS}.second_step.PasskeySignInForm",
    "authenticate_webauthn": f"{_ACCOUNTS}.second_step.PasskeyStepForm",
    "reauthenticate_webauthn": f"{_ACCOUNTS}.second_step.PasskeyConfirmForm",
}
SOCIALACCOUNT_ADAPTER = f"{_ACCOUNTS}.single_sign_on.SingleSignOnAdapter"
# An account that was found by its address is found by the provider's id from then on.
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# Guessing is counted in the database, for all processes: see `toolevals.workspace.accounts.services`.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False


def sign_on(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Return the providers of single sign-on that the environment names, by their ids. Raises ImproperlyConfigured."""
    return {each["provider_id"]: each for each in (openid_connect(env), saml(env)) if each}


def openid_connect(env: environ.Env) -> dict[str, Any] | None:
    """Return the provider that the environment names, or None."""
    server = env.str("OIDC_SERVER_URL", "")
    # All are asked for, so that the page of settings lists them.
    name, secret = env.str("OIDC_NAME", "single sign-on"), env.str("OIDC_CLIENT_SECRET", "")
    client = env.str("OIDC_CLIENT_ID") if server else env.str("OIDC_CLIENT_ID", "")
    if not server:
        return None
    return {
        "provider_id": "oidc",
        "name": name,
        "client_id": client,
        "secret": secret,
        "settings": {"server_url": server, "oauth_pkce_enabled": True},
    }


def saml(env: environ.Env) -> dict[str, Any] | None:
    """Return the provider of SAML that the environment names, or None. Raises ImproperlyConfigured."""
    metadata, entity_id = env.str("SAML_METADATA", ""), env.str("SAML_ENTITY_ID", "")
    by_hand = {"SAML_SIGN_ON_URL": env.str("SAML_SIGN_ON_URL", "")}
    by_hand["SAML_CERTIFICATE"] = env.str("SAML_CERTIFICATE", "")
    name, email_attribute = env.str("SAML_NAME", "single sign-on"), env.str("SAML_EMAIL_ATTRIBUTE", "")
    given = {"SAML_METADATA": metadata, "SAML_ENTITY_ID": entity_id, **by_hand}
    first = next((each for each, value in given.items() if value), None)
    if first is None:
        return None
    if find_spec("onelogin") is None or find_spec("xmlsec") is None:
        raise ImproperlyConfigured(f"{PREFIX}{first} is set, and needs more packages: install toolevals[saml]")
    if metadata:
        for each in (each for each, value in by_hand.items() if value):
            raise ImproperlyConfigured(f"{PREFIX}{each} is set with {PREFIX}SAML_METADATA, which says it: set one")
        _metadata_check(metadata)
    else:
        for each, value in {"SAML_ENTITY_ID": entity_id, **by_hand}.items():
            if not value:
                words = f"set it, or {PREFIX}SAML_METADATA alone"
                raise ImproperlyConfigured(f"{PREFIX}{each} is missing for single sign-on by SAML: {words}")
    known = {"metadata": metadata, "entity_id": entity_id, "email_attribute": email_attribute}
    known["sign_on_url"] = by_hand["SAML_SIGN_ON_URL"]
    known["certificate"] = "" if metadata else _read("SAML_CERTIFICATE", by_hand["SAML_CERTIFICATE"], "CERTIFICATE---")
    return {"provider_id": "saml", "name": name, "client_id": "saml", "settings": known}


def _metadata_check(said: str) -> None:
    """Refuse metadata that anyone on the way could change, and a file that holds none."""
    url = urlsplit(said)
    if url.scheme == "http" and url.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ImproperlyConfigured(f"{PREFIX}SAML_METADATA must begin with https://: it says whose signatures count")
    if url.scheme not in ("http", "https"):
        _read("SAML_METADATA", said, "IDPSSODescriptor")


def _read(name: str, path: str, holds: str) -> str:
    """Return the text of the file that a setting names."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise ImproperlyConfigured(f"{PREFIX}{name} names a file that cannot be read: {path}") from None
    if holds not in text:
        raise ImproperlyConfigured(f"{PREFIX}{name} names a file without {holds.strip('-')}: {path}")
    return text
