"""Names the app for Django: the sample is a shop's support agent, to look around and to try single steps with."""

from __future__ import annotations

from django.apps import AppConfig


class SampleConfig(AppConfig):
    """Holds data, one command and the buttons that add the data; no models."""

    name = "toolevals.sample"
