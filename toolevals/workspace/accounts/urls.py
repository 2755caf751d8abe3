"""Lists the addresses of a sign-in, by the names that django-allauth knows: what is not listed here does not exist."""

from __future__ import annotations

from allauth.account.views import LogoutView
from django.urls import path
from django.views.decorators.http import require_POST

from toolevals.workspace.accounts import views

urlpatterns = [
    path("sign-in/", views.SignInView.as_view(), name="account_login"),
    path("sign-out/", require_POST(LogoutView.as_view()), name="account_logout"),
    path("sign-in/lost-password/", views.ResetView.as_view(), name="account_reset_password"),
    path(
        "sign-in/new-password/<str:uidb36>/<str:key>/",
        views.NewPasswordView.as_view(),
        name="account_reset_password_from_key",
    ),
]
