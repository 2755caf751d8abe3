"""Files as documents of tool specs: YAML, several files in a zip, agent skills."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from toolevals.grading.reading.specs import document_in, read_tools
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import load_yaml

ROOT = """
openapi: 3.1.0
info: {title: Pets, version: 2024-05-01}
paths:
  /pets:
    $ref: paths/pets.yaml#/pets
"""
PATHS = """
pets:
  get:
    operationId: list
    parameters:
    - {name: kind, in: query, schema: {$ref: "../schemas/Kind%20of.json#/kind~1s"}}
    - {name: tree, in: query, schema: {$ref: "#/tree"}}
tree: {type: object, properties: {below: {$ref: "#/tree"}}}
"""
KINDS = {"kind/s": {"enum": ["cat", "dog"]}}
SKILL = """---
name: pdf
description: Fills in forms.
license: MIT
---

# Steps
"""


def zipped(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def test_references_across_the_files_of_a_zip_are_followed():
    files = {"api/root.yaml": ROOT, "api/paths/pets.yaml": PATHS, "api/schemas/Kind of.json": json.dumps(KINDS)}
    (tool,) = read_tools(document_in(zipped(files | {"api/unused.yml": "a: &a [*a]"}))).tools
    assert tool.input_schema["properties"]["kind"] == {"$ref": "#/$defs/kind_1s"}
    assert tool.input_schema["$defs"] == {
        "kind_1s": {"enum": ["cat", "dog"]},
        "tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}}},
    }


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"a.yaml": ROOT.replace("paths/pets.yaml", "https://example.org/x")},
            "a.yaml: refers to 'https://example.org/x",
        ),
        ({"a.yaml": ROOT}, "the zip holds no paths/pets.yaml"),
        ({"a.yaml": ROOT.replace("paths/", "../../etc/")}, "the zip holds no ../../etc/pets.yaml"),
        ({"a.yaml": ROOT, "b.yaml": ROOT}, "several of its files are OpenAPI documents: a.yaml, b.yaml"),
        ({"a.json": "{}", "b.json": "[]"}, "none of its files is an OpenAPI document"),
        ({"readme.md": "x"}, "holds neither SKILL.md nor a file that ends in .json, .yaml, .yml"),
        ({"a.yaml": ROOT, "paths/pets.yaml": "a: ["}, "paths/pets.yaml: not YAML at line 2"),
    ],
)
def test_a_zip_that_is_no_document_is_refused_by_name(files, words):
    with pytest.raises(InvalidDocument) as caught:
        document_in(zipped(files))
    assert words in str(caught.value)


def test_a_zip_has_limits():
    bomb = zipped({"a.json": "[" + " " * 70_000_000 + "]"})
    no_zip = "cannot be read as a zip"
    for content, words in ((bomb, "unpacks to"), (bomb[:-30], no_zip), (b"PK\x03\x04", no_zip)):
        with pytest.raises(InvalidDocument, match=words):
            document_in(content)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: yes, c: 12:30, d: 2024-05-01, 200: 0x1F}", {"a": "yes", "c": "12:30", "d": "2024-05-01", "200": 31}),
        ("- 1\n- 1.5e3\n- ~\n-\n- 'true'\n- true\n- !!str 7\n- .5", [1, 1500.0, None, None, "true", True, "7", 0.5]),
        ("text: |\n  two\n  lines\n", {"text": "two\nlines\n"}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
    ],
)  # fmt: skip
def test_yaml_is_read_by_its_core_schema(text, value):
    assert load_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x 1\nb: *x", "line 2, column 4: aliases"),
        ("a: 1\na: 2", "line 2, column 1: the key 'a' twice"),
        ("!!python/object/apply:os.system [x]", "tag"),
        ("a: .inf", ".inf is not a JSON value"),
        ("a: 1e999", "beyond"),
        ("? [1]\n: 2", "a key that is not text"),
        ("--- 1\n--- 2", "a second document"),
        ("", "empty"),
        ("a: [1", "not YAML at line 2"),
        ('a: "\\0"', "NUL"),
        ("[" * 5_000, "nested deeper"),
    ],
)
def test_yaml_beyond_json_is_refused(text, words):
    with pytest.raises(InvalidDocument) as caught:
        load_yaml(text)
    assert words in str(caught.value)


def test_skills_become_tools_with_named_losses():
    files = {
        "skills/pdf/SKILL.md": SKILL,
        "skills/pdf/scripts/fill.py": "x",
        "skills/other.txt": "x",
        "__MACOSX/a": "x",
    }
    read = read_tools(document_in(zipped(files)))
    (tool,) = read.tools
    assert (read.format, tool.name, tool.description) == ("skills", "pdf", "Fills in forms.")
    assert list(tool.input_schema["properties"]) == ["request"]
    assert [loss.pointer for loss in read.losses] == ["/skills/0/text/license", "/skills/0/text", "/skills/0/files"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# no front matter", "does not start with front matter"),
        ("---\nname: a\n---\n", "pdf/SKILL.md: is missing: say what the skill is for"),
        ("---\nname: a\ndescription: b: c\n---\n", "pdf/SKILL.md: the front matter is not YAML at line 2"),
        ("---\n- a\n---\n", "is not an object"),
    ],
)
def test_a_skill_that_cannot_be_read_is_refused_by_its_file(text, words):
    with pytest.raises(InvalidDocument) as caught:
        read_tools(document_in(zipped({"pdf/SKILL.md": text})))
    assert words in str(caught.value)
