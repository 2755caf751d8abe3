"""The sample: a shop's support agent, loaded once to look around, and added to other projects to try a step."""

from __future__ import annotations

from django.apps import AppConfig


class SampleConfig(AppConfig):
    """Holds data, one command and the buttons that add the data; no models."""

    name = "toolevals.sample"
