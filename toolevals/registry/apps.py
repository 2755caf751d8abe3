"""Names the app for Django."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    """`toolevals.registry`."""

    name = "toolevals.registry"
