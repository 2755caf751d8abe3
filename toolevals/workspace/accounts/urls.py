"""Lists the addresses of a sign-in, by the names that django-allauth knows: what is not listed here does not exist."""

from __future__ import annotations

from allauth.account.views import LogoutView, ReauthenticateView
from allauth.mfa.base.views import ReauthenticateView as ConfirmCodeView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView
from django.urls import path
from django.views.decorators.http import require_POST

from toolevals.workspace.accounts import second_step, sessions, views

CONFIRM = "workspace/confirm.html"
REMOVE = "workspace/second_step_remove.html"
OPENID_CONNECT, SAML = {"provider_id": "oidc"}, {"provider_id": "saml"}

urlpatterns = [
    path("sign-in/", views.SignInView.as_view(), name="account_login"),
    path("sign-out/", require_POST(LogoutView.as_view()), name="account_logout"),
    path("sign-in/lost-password/", views.ResetView.as_view(), name="account_reset_password"),
    path(
        "sign-in/new-password/<str:uidb36>/<str:key>/",
        views.NewPasswordView.as_view(),
        name="account_reset_password_from_key",
    ),
    path("sign-in/second-step/", second_step.SecondStepView.as_view(), name="mfa_authenticate"),
    path("sign-in/passkey/", second_step.PasskeySignInView.as_view(), name="mfa_login_webauthn"),
    path("profile/confirm/", ReauthenticateView.as_view(template_name=CONFIRM), name="account_reauthenticate"),
    path("profile/confirm/code/", ConfirmCodeView.as_view(template_name=CONFIRM), name="mfa_reauthenticate"),
    path("profile/confirm/passkey/", second_step.ConfirmPasskeyView.as_view(), name="mfa_reauthenticate_webauthn"),
    path("profile/sessions/", sessions.SessionsView.as_view(), name="usersessions_list"),
    path("profile/second-step/", second_step.SecondStepsView.as_view(), name="mfa_index"),
    path(
        "profile/second-step/app/add/",
        ActivateTOTPView.as_view(template_name="workspace/second_step_app.html"),
        name="mfa_activate_totp",
    ),
    path(
        "profile/second-step/app/remove/",
        DeactivateTOTPView.as_view(template_name=REMOVE),
        name="mfa_deactivate_totp",
    ),
    path(
        "profile/second-step/recovery-codes/",
        ViewRecoveryCodesView.as_view(template_name="workspace/recovery_codes.html"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "profile/second-step/recovery-codes/new/",
        GenerateRecoveryCodesView.as_view(template_name="workspace/recovery_codes_new.html"),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "profile/second-step/passkeys/add/",
        AddWebAuthnView.as_view(template_name="workspace/passkey_new.html"),
        name="mfa_add_webauthn",
    ),
    path(
        "profile/second-step/passkeys/<int:pk>/remove/",
        second_step.PasskeyRemoveView.as_view(),
        name="mfa_remove_webauthn",
    ),
    path("sign-in/sso/", views.sign_on, OPENID_CONNECT, name="openid_connect_login"),
    path("sign-in/sso/callback/", views.sign_on_answer, OPENID_CONNECT, name="openid_connect_callback"),
    path("sign-in/saml/", views.sign_on, SAML, name="saml_login"),
    path("sign-in/saml/acs/", views.saml_receive, name="saml_acs"),
    path("sign-in/saml/acs/finish/", views.sign_on_answer, SAML, name="saml_finish_acs"),
    path("sign-in/saml/metadata/", views.saml_metadata, name="saml_metadata"),
]
