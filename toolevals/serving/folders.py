"""Find the folders of this installation, before any settings are read: the code, the checkout, the data."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Holds the packages: the top of a checkout, or an environment's `site-packages`.
PACKAGES = Path(__file__).resolve().parent.parent.parent


def checkout() -> Path | None:
    """Return the top of the checkout that this code runs from; None where it is installed."""
    return PACKAGES if (PACKAGES / "pyproject.toml").exists() else None


def version_number() -> str:
    """Return the version, of the package or of the checkout that the code runs from."""
    import tomllib
    from importlib.metadata import version

    top = checkout()
    return tomllib.loads((top / "pyproject.toml").read_text())["project"]["version"] if top else version("toolevals")


def pages_folder() -> Path:
    """Return the folder that holds `templates` and `static`: the top of a checkout, or the package where installed."""
    return checkout() or PACKAGES / "toolevals"


def data_folder() -> Path:
    """Return the folder of database and uploads: TOOLEVALS_DATA_DIR, else `data` in a checkout, else the platform's."""
    if named := os.environ.get("TOOLEVALS_DATA_DIR", ""):
        return Path(named).resolve()
    top = checkout()
    return top / "data" if top else _of_platform("LOCALAPPDATA", "XDG_DATA_HOME", ".local/share")


def settings_folder() -> Path:
    """Return the folder of what `toolevals login` keeps for the account that runs it."""
    return _of_platform("APPDATA", "XDG_CONFIG_HOME", ".config")


def _of_platform(windows: str, others: str, default: str) -> Path:
    """Return our folder below the platform's; variables that hold no whole path say nothing."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "toolevals"
    said = Path(os.environ.get(windows if sys.platform == "win32" else others, ""))
    return (said if said.is_absolute() else Path.home() / default) / "toolevals"
