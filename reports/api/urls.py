"""Addresses of `reports` in the REST interface."""

from django.urls import URLPattern

app_name = "reports-api"
urlpatterns: list[URLPattern] = []
