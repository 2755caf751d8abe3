"""Names the app for Django: a door without models."""

from __future__ import annotations

from django.apps import AppConfig


class McpServerConfig(AppConfig):
    """Answers one address."""

    name = "toolevals.mcp_server"
