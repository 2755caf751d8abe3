"""The addresses of the provider of OpenID Connect."""

from __future__ import annotations

from django.urls import include, path

from tests.servers.oidc_provider import become, client

urlpatterns = [
    path("", include("allauth.idp.urls")),
    path("as/<str:email>", become),
    path("client", client),
    path("login/", client, name="account_login"),
]
