"""Name the app for Django."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """`toolevals.runs`."""

    name = "toolevals.runs"
