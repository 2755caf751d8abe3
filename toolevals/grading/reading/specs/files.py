"""Reads files of tool specs as one document: JSON, YAML, or several files that refer to each other, or to skills.

Reads agent skills as tools: folders with a SKILL.md, whose front matter names the skill and when to use it.

Each skill becomes a tool that takes `request`, what the skill is asked to do. The document is
`{"skills": [{"path": "pdf/SKILL.md", "text": ..., "files": 3}]}`, as zips and folders are read; `files` counts those
next to it.
Source: the Agent Skills specification (agentskills.io), "SKILL.md format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import quote, unquote

from toolevals.archives import MAGIC, files_in
from toolevals.grading.reading.specs.drafts import Draft, Drafts, Losses, draft_of
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.grading.values.yaml_documents import load_yaml
from toolevals.json_types import JsonObject

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


def read_skills(document: object) -> Drafts:
    """Read the skills of a folder."""
    listed = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise InvalidDocument.at("/skills", f"is not a list of {MAIN} files")
    for place, entry in enumerate(listed):
        yield draft_of(entry, f"/skills/{place}", _read)


def _read(entry: JsonObject, where: str) -> Draft:
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


def _parts(text: str, where: str, path: str) -> tuple[JsonObject, str]:
    """Return the front matter and the instructions below it."""
    text = text.removeprefix("\ufeff")
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise InvalidDocument.at(
            f"{where}/text", f"{path or MAIN}: does not start with front matter between lines of ---"
        )
    try:
        front = load_yaml(found[1])
    except InvalidDocument as error:
        raise InvalidDocument.at(
            f"{where}/text", f"{path or MAIN}: the front matter is {error.problems[0].message}"
        ) from None
    if not isinstance(front, dict):
        raise InvalidDocument.at(f"{where}/text", f"{path or MAIN}: the front matter is not an object")
    return front, text[found.end() :].strip()


MAX_FILES = 2_000
MAX_BYTES = 64_000_000
# The key of the one document under which the other files stand.
FILES = "x-files"
_ENDINGS = (".json", ".yaml", ".yml")


def document_in(content: bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the document of a file: JSON, YAML, or a zip of such files or of skills. Raises InvalidDocument."""
    if content.startswith(MAGIC):
        return document_of(files_in(content, max_files=MAX_FILES, max_bytes=max_bytes))
    return parsed(content, max_bytes=max_bytes)


def document_of(files: Mapping[str, bytes]) -> Any:
    """Return the one document of several files, by their paths. Raises InvalidDocument with the file's name.

    Skills are gathered. Else one file is an OpenAPI document, and what it refers to in other files stands under
    `x-files`; files that nothing refers to are left aside.
    """
    if any(PurePosixPath(path).name == MAIN for path in files):
        return {"skills": list(_skills(files))}
    documents = {path: content for path, content in files.items() if path.lower().endswith(_ENDINGS)}
    if not documents:
        raise InvalidDocument.at("", f"holds neither {MAIN} nor a file that ends in {', '.join(_ENDINGS)}")
    return _Bundle(documents).document()


def parsed(content: bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the value of JSON or, where the text does not begin as JSON does, of YAML. Raises InvalidDocument."""
    text = content.removeprefix(b"\xef\xbb\xbf")
    if text.lstrip()[:1] in (b"{", b"[", b'"', b""):
        return load_json(text, max_bytes=max_bytes)
    try:
        return load_yaml(text.decode())
    except UnicodeDecodeError as error:
        raise InvalidDocument.at("", f"not UTF-8 at byte {error.start}") from None


def _skills(files: Mapping[str, bytes]) -> Iterator[JsonObject]:
    folders = sorted(str(PurePosixPath(path).parent) for path in files if PurePosixPath(path).name == MAIN)
    for folder in folders:
        path = str(PurePosixPath(folder) / MAIN)
        beside = [each for each in files if each != path and _is_below(each, folder)]
        try:
            text = files[path].decode()
        except UnicodeDecodeError as error:
            raise InvalidDocument.at("", f"{path}: not UTF-8 at byte {error.start}") from None
        # Files of a skill within this one are that one's.
        inner = [each for each in folders if each != folder and _is_below(each, folder)]
        count = sum(not any(_is_below(each, other) for other in inner) for each in beside)
        yield {"path": path, "text": text, "files": count}


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


class _Bundle:
    """The files that a document reaches by its references, as one document."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.read: JsonObject = {}

    def document(self) -> Any:
        """Return the root file's value, with what it reaches. Raises InvalidDocument."""
        root = self._root()
        waiting = [root]
        reached: JsonObject = {}
        while waiting:
            path = waiting.pop()
            if path in reached:
                continue
            reached[path] = self._rewritten(self._value(path), path, root, waiting)
        document = reached.pop(root)
        if not reached:
            return document
        if not isinstance(document, dict):
            raise InvalidDocument.at("", f"{root}: is not an object, and refers to other files")
        return document | {FILES: reached}

    def _root(self) -> str:
        if len(self.files) == 1:
            return next(iter(self.files))
        roots = [path for path in sorted(self.files) if self._is_root(path)]
        if len(roots) != 1:
            several = f"several of its files are OpenAPI documents: {', '.join(roots[:5])}"
            words = several if roots else "none of its files is an OpenAPI document"
            raise InvalidDocument.at("", f"{words}. Send one document with the files that it refers to")
        return roots[0]

    def _is_root(self, path: str) -> bool:
        # Cheap before reading: YAML takes long.
        if not any(word in self.files[path][:20_000] for word in (b"openapi", b"swagger")):
            return False
        value = self._value(path)
        return isinstance(value, dict) and ("openapi" in value or "swagger" in value)

    def _value(self, path: str) -> Any:
        if path not in self.read:
            try:
                self.read[path] = parsed(self.files[path])
            except InvalidDocument as error:
                problems = [Problem(each.pointer, f"{path}: {each.message}") for each in error.problems]
                raise InvalidDocument(problems) from None
        return self.read[path]

    def _rewritten(self, value: object, path: str, root: str, waiting: list[str]) -> Any:
        if isinstance(value, list):
            return [self._rewritten(each, path, root, waiting) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._reference(each, path, root, waiting)
            if key == "$ref" and isinstance(each, str)
            else self._rewritten(each, path, root, waiting)
            for key, each in value.items()
        }

    def _reference(self, reference: str, path: str, root: str, waiting: list[str]) -> str:
        place, _, fragment = reference.partition("#")
        if "://" in place or place.startswith("//"):
            words = f"{path}: refers to {reference[:200]!r}: nothing is fetched. Put the file into the zip"
            raise InvalidDocument.at("", words)
        target = normpath(str(PurePosixPath(path).parent / unquote(place))) if place else path
        if target not in self.files:
            raise InvalidDocument.at("", f"{path}: refers to {reference[:200]!r}, and the zip holds no {target[:200]}")
        waiting.append(target)
        start = "" if target == root else pointer_to([FILES, target])
        return f"#{quote(start + unquote(fragment), safe='/~')}"
