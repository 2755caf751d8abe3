"""Names the app for Django."""

from django.apps import AppConfig


class TracesConfig(AppConfig):
    """`toolevals.traces`."""

    name = "toolevals.traces"
