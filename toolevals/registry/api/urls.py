"""Lists the addresses of `toolevals.registry` in the REST interface."""

from django.urls import path

from toolevals.registry.api import views

app_name = "registry-api"
urlpatterns = [
    path("registries/", views.Registries.as_view(), name="registries"),
    path("registries/<slug:registry>/", views.RegistryDetail.as_view(), name="registry"),
    path("registries/<slug:registry>/versions/", views.Versions.as_view(), name="versions"),
    path("registries/<slug:registry>/versions/preview/", views.VersionPreview.as_view(), name="preview"),
    path("registries/<slug:registry>/versions/preview/<uuid:job>/", views.LargePreview.as_view(), name="large-preview"),
    path("registries/<slug:registry>/versions/mcp/", views.McpVersions.as_view(), name="mcp"),
    path("registries/<slug:registry>/versions/<int:number>/", views.VersionDetail.as_view(), name="version"),
]
