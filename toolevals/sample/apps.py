"""The sample project: a shop's support agent, loaded once for people who want to look around."""

from __future__ import annotations

from django.apps import AppConfig


class SampleConfig(AppConfig):
    """Holds data and one command; no models, no pages."""

    name = "toolevals.sample"
