"""Tell which code runs without a sandbox, and what code may use: the operator says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from django.conf import settings

from toolevals.agents.code import Limits, files_in
from toolevals.grading.values.canonical import digest


def code_digest(files: Mapping[str, str]) -> str:
    """Return the name by content of a simulator's code: what an operator declares trusted."""
    return digest({"files": dict(files)})


def is_trusted(files: Mapping[str, str]) -> bool:
    """Tell whether this very code is ours, or declared trusted."""
    if "*" in settings.TRUSTED_SIMULATORS:
        return True
    name = code_digest(files)
    return name in settings.TRUSTED_SIMULATORS or name in map(_shipped_digest, settings.SHIPPED_SIMULATORS)


def limits() -> Limits:
    """Return what the installation's simulators may use."""
    return Limits(memory=settings.SIMULATOR_MEMORY_MB << 20, seconds=settings.SIMULATOR_SECONDS)


@cache
def _shipped_digest(folder: Path) -> str:
    return code_digest(files_in(folder))
