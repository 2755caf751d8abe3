"""Every module says what it is for in a sentence with a verb."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scripts.dev.environment import ROOT
from tests.project.files import project_files

DANGLING = re.compile(r"(?:What|How|Whether|Which|Who|Whose|Where|When|Why)\b")


def first_words(path: Path) -> str:
    """Return a module's docstring; empty where it has none."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def test_no_docstring_of_a_module_is_a_dangling_question() -> None:
    paths = project_files(".py")
    assert len(paths) > 1000
    assert [str(path.relative_to(ROOT)) for path in paths if DANGLING.match(first_words(path))] == []
