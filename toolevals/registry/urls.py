"""Lists the addresses of the pages of `toolevals.registry`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from toolevals.registry import views

app_name = "registry"
urlpatterns: list[URLPattern | URLResolver] = [
    path("registries/", views.registries, name="registries"),
    path("registries.csv", views.registries_csv, name="registries-csv"),
    path("registries/<slug:registry>/", views.registry, name="registry"),
    path("registries/<slug:registry>/versions.csv", views.versions_csv, name="versions-csv"),
    path("registries/<slug:registry>/losses.csv", views.losses_csv, name="losses-csv"),
    path("registries/<slug:registry>/mcp/", views.fetch, name="mcp"),
    path("registries/<slug:registry>/<int:number>/", views.version, name="version"),
    path("registries/<slug:registry>/<int:number>/strict/<int:place>/", views.strict, name="strict"),
    path("registries/<slug:registry>/<int:number>/since/<int:before>/", views.changes, name="changes"),
]
