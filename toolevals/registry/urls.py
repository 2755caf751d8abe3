"""Pages of `toolevals.registry`."""

from django.urls import URLPattern

app_name = "registry"
urlpatterns: list[URLPattern] = []
