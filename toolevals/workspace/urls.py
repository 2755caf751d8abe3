"""Pages of `toolevals.workspace`."""

from django.urls import URLPattern

app_name = "workspace"
urlpatterns: list[URLPattern] = []
