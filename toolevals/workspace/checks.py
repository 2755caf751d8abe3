"""Tells of environment variables that are read by a name from before the prefix."""

from __future__ import annotations

import os
from typing import Any

from django.core.checks import CheckMessage, register
from django.core.checks import Warning as CheckWarning

from toolevals.settings.environment import PREFIX, old_names_in


@register()
def names_of_settings(**_: Any) -> list[CheckMessage]:
    """Return a warning for each variable whose name lacks the prefix; Django prints them when a command starts."""
    return [
        CheckWarning(f"{name} is read, but is called {PREFIX}{name} now.", hint="Rename it.", id="toolevals.W001")
        for name in old_names_in(os.environ)
    ]
