"""The app's name for Django."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """`toolevals.runs`."""

    name = "toolevals.runs"
