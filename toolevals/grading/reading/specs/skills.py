"""Reads agent skills as tools: folders with a SKILL.md, whose front matter names the skill and when to use it.

Each skill becomes a tool that takes `request`, what the skill is asked to do. The document is
`{"skills": [{"path": "pdf/SKILL.md", "text": ..., "files": 3}]}`, as zips and folders are read; `files` counts those
next to it.
Source: the Agent Skills specification (agentskills.io), "SKILL.md format".
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, Drafts, Losses, draft_of
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.grading.values.yaml_documents import load_yaml

MAIN = "SKILL.md"
REQUEST = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "What the skill is asked to do."}},
    "additionalProperties": False,
}
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# One of the two says when a skill is used; some authors keep it apart from what it does.
_WHEN = ("when_to_use", "when-to-use")
_KNOWN = frozenset({"name", "description", *_WHEN})


def read_skills(document: Any) -> Drafts:
    """Read the skills of a folder."""
    listed = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise InvalidDocument.at("/skills", f"is not a list of {MAIN} files")
    for place, entry in enumerate(listed):
        yield draft_of(entry, f"/skills/{place}", _read)


def _read(entry: dict[str, Any], where: str) -> Draft:
    text, path = entry.get("text"), entry.get("path", "")
    if not isinstance(text, str):
        raise InvalidDocument.at(f"{where}/text", f"is not the text of a {MAIN}")
    if not isinstance(path, str):
        raise InvalidDocument.at(f"{where}/path", "is not text")
    front, body = _parts(text, where, path)
    losses: Losses = [
        Problem(f"{where}/text{pointer_to([key])}", "is not carried over") for key in front if key not in _KNOWN
    ]
    if body:
        losses.append(Problem(f"{where}/text", "the instructions are not carried over: who chooses does not see them"))
    if isinstance(files := entry.get("files"), int) and files > 0:
        losses += [Problem(f"{where}/files", f"{files} bundled files are not carried over")]
    folder = PurePosixPath(path).parent.name
    if folder and isinstance(front.get("name"), str) and front["name"] != folder:
        losses.append(
            Problem(f"{where}/path", f"the folder is called {folder[:80]!r}, the skill {front['name'][:80]!r}")
        )
    when = next((front[key] for key in _WHEN if isinstance(front.get(key), str)), "")
    description = front.get("description")
    if not isinstance(description, str) or not description.strip():
        raise InvalidDocument.at(f"{where}/text/description", f"{path or MAIN}: is missing: say what the skill is for")
    native = {
        "name": front.get("name"),
        "description": "\n\n".join(part.strip() for part in (description, when) if part.strip()),
        "input_schema": dict(REQUEST),
    }
    return Draft(where, native, losses, {"/name": f"{where}/text/name"})


def _parts(text: str, where: str, path: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the instructions below it."""
    text = text.removeprefix("\ufeff")
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise InvalidDocument.at(
            f"{where}/text", f"{path or MAIN}: does not begin with front matter between lines of ---"
        )
    try:
        front = load_yaml(found[1])
    except InvalidDocument as error:
        raise InvalidDocument.at(
            f"{where}/text", f"{path or MAIN}: the front matter is {error.problems[0].message}"
        ) from None
    if not isinstance(front, dict):
        raise InvalidDocument.at(f"{where}/text", f"{path or MAIN}: the front matter is no object")
    return front, text[found.end() :].strip()
