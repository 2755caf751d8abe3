"""Loads the templates of the pages' folder, which a wheel packs."""

from __future__ import annotations

from pathlib import Path

from django.template import Origin, TemplateDoesNotExist
from django.template.loaders.filesystem import Loader

from toolevals.packed import read_text


class PackedLoader(Loader):
    """Loads a template, packed or not."""

    def get_contents(self, origin: Origin) -> str:
        try:
            return read_text(Path(origin.name))
        except FileNotFoundError:
            raise TemplateDoesNotExist(origin) from None
