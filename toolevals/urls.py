"""Lists every address of the application; those of a project name it first, so that access is decided before views."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("toolevals.workspace.urls")),
    path("", include("toolevals.workspace.accounts.urls")),
    path("p/<slug:project>/", include("toolevals.registry.urls")),
    path("p/<slug:project>/", include("labeling.urls")),
    path("p/<slug:project>/", include("toolevals.runs.urls")),
    path("p/<slug:project>/", include("toolevals.traces.urls")),
    path("p/<slug:project>/", include("reports.urls")),
    path("p/<slug:project>/", include("toolevals.sample.urls")),
    path("", include("toolevals.mcp_server.urls")),
    path("metrics", include("reports.monitoring.urls")),
    path("operations/", include("reports.operations.urls")),
    path("v1/", include("toolevals.traces.intake.urls")),
    path("badges/", include("reports.badge_urls")),
    path("api/v1/", include("toolevals.workspace.api.urls")),
    path("api/v1/operations/", include("reports.operations.api_urls")),
    path("api/v1/projects/<slug:project>/", include("toolevals.registry.api")),
    path("api/v1/projects/<slug:project>/", include("labeling.api.urls")),
    path("api/v1/projects/<slug:project>/", include("toolevals.runs.api_urls")),
    path("api/v1/projects/<slug:project>/", include("toolevals.traces.api_urls")),
    path("api/v1/projects/<slug:project>/", include("reports.api.urls")),
]

handler400 = "toolevals.workspace.errors.bad_request"
handler403 = "toolevals.workspace.errors.permission_denied"
handler404 = "toolevals.workspace.errors.not_found"
handler500 = "toolevals.workspace.errors.server_error"
