"""Addresses of `labeling` in the REST interface."""

from django.urls import URLPattern

app_name = "labeling-api"
urlpatterns: list[URLPattern] = []
