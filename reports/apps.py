"""Name the app for Django."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """`reports`."""

    name = "reports"
