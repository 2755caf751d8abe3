"""Name the app for Django."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    """`labeling`."""

    name = "labeling"
