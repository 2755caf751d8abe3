"""Say which version of toolevals this is."""

from __future__ import annotations

import platform
import tomllib
from importlib.metadata import version

from toolevals.serving.folders import PACKAGES, checkout


def toolevals_version() -> str:
    """Return the version of the installed package, or of the checkout that the code runs from."""
    if top := checkout():
        found: str = tomllib.loads((top / "pyproject.toml").read_text())["project"]["version"]
        return found
    return version("toolevals")


def version_words() -> str:
    """Return the version, where the code is, and the version of Python."""
    return f"toolevals {toolevals_version()} from {PACKAGES} (Python {platform.python_version()})"
