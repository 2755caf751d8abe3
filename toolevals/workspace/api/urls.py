"""Addresses of `toolevals.workspace` in the REST interface."""

from django.urls import URLPattern

app_name = "workspace-api"
urlpatterns: list[URLPattern] = []
