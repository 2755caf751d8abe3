"""YAML from outside, as far as JSON goes: no aliases, no key twice, no values that JSON has no form for."""

from __future__ import annotations

from typing import Any

import yaml

from toolevals.grading.documents import require_json
from toolevals.grading.problems import InvalidDocument


def load_yaml(text: str) -> Any:
    """Return the value of YAML text. Raises InvalidDocument, with line and column where they are known."""
    try:
        document = yaml.load(text, Loader=_Plain)  # noqa: S506 (a safe loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InvalidDocument.at("", f"not YAML{place}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidDocument.at("", f"not YAML: {error}") from error
    require_json(document)
    return document


class _Plain(yaml.SafeLoader):
    """No alias, which could grow without bound, and no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read", self.get_mark())
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)
