"""Lists the address of `toolevals.mcp_server`."""

from __future__ import annotations

from django.urls import path

from toolevals.mcp_server import views

app_name = "mcp_server"
urlpatterns = [
    path("mcp", views.mcp, name="mcp"),
]
