"""Reads Dockerfile and compose.yaml as plain values."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any, NamedTuple

import yaml

from scripts.dev.environment import ROOT

IMAGE = "toolevals:0.1.0"


class Instruction(NamedTuple):
    """An instruction of the Dockerfile, such as RUN, and what follows it."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """Return the command of a CMD in the form that needs no shell."""
        found: list[str] = json.loads(self.rest[self.rest.index("[") :])
        return found


def stages() -> list[list[Instruction]]:
    """Return the instructions of each stage of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    found: list[list[Instruction]] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        if name:
            found[-1].append(Instruction(name, rest))
    return found


def image(name: str) -> Instruction:
    """Return the one instruction of this name in the stage that is kept."""
    (found,) = [each for each in stages()[-1] if each.name == name]
    return found


def image_environment() -> dict[str, str]:
    """Return the variables that the image sets."""
    return dict(word.split("=", 1) for word in shlex.split(image("ENV").rest))


def compose() -> dict[str, Any]:
    """Return compose.yaml; a `$$` is a dollar sign by then."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text().replace("$$", "$"))
    return found


def own_services() -> dict[str, dict[str, Any]]:
    """Return the services that run toolevals."""
    return {name: service for name, service in compose()["services"].items() if service["image"] == IMAGE}


def checked_by(service: dict[str, Any]) -> list[str]:
    """Return the words of a service's health check; none where it is switched off."""
    check = service.get("healthcheck")
    if check is None:
        return image("HEALTHCHECK").words
    said: list[str] = check.get("test", ["NONE"])
    return {"CMD": said[1:], "CMD-SHELL": ["/bin/sh", "-c", *said[1:]], "NONE": []}[said[0]]
