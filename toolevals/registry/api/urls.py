"""Addresses of `toolevals.registry` in the REST interface."""

from django.urls import URLPattern

app_name = "registry-api"
urlpatterns: list[URLPattern] = []
