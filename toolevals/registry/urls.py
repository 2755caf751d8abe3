"""Lists the addresses of the pages of `toolevals.registry`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from toolevals.registry.views import mcp, registries

app_name = "registry"
urlpatterns: list[URLPattern | URLResolver] = [
    path("registries/", registries.registries, name="registries"),
    path("registries.csv", registries.registries_csv, name="registries-csv"),
    path("registries/<slug:registry>/", registries.registry, name="registry"),
    path("registries/<slug:registry>/versions.csv", registries.versions_csv, name="versions-csv"),
    path("registries/<slug:registry>/losses.csv", registries.losses_csv, name="losses-csv"),
    path("registries/<slug:registry>/mcp/", mcp.fetch, name="mcp"),
    path("registries/<slug:registry>/<int:number>/", registries.version, name="version"),
    path("registries/<slug:registry>/<int:number>/since/<int:before>/", registries.changes, name="changes"),
]
