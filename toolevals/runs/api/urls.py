"""Addresses of `toolevals.runs` in the REST interface."""

from django.urls import URLPattern

app_name = "runs-api"
urlpatterns: list[URLPattern] = []
