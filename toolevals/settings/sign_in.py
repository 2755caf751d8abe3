"""Says how people sign in by django-allauth: which of its forms and adapters are ours, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import environ

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
