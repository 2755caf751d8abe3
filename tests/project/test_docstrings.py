"""Every module says what it is for in a sentence with a verb."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from scripts.dev.environment import ROOT
from tests.project.files import project_files

DANGLING = re.compile(r"(?:What|How|Whether|Which|Who|Whose|Where|When|Why)\b")
# Beginnings without a verb: an article, a noun such as "Pages" or "Reading", a command or a heading, "Reads of ...".
NO_VERB = re.compile(
    r"(?:The|An?|One|Two|This|All|Our|Other|From|Everything|Pages|(?!Bring)[A-Z][a-z-]+ing)\b"
    r"|`|[\w'-]+:|[A-Z]\w*(?:s'|'s) |(?!Tells|Says|Notes)\w+s (?:of|as|that)\b"
)
DOCSTRING = re.compile(r'(?:#[^\n]*\n|\s)*r?"""\s*(.*?)"""', re.DOTALL)


@cache
def first_words(path: Path) -> str:
    """Return a module's docstring; empty where it has none."""
    begun = DOCSTRING.match(path.read_text(encoding="utf-8"))
    return begun[1] if begun else ""


def test_no_docstring_of_a_module_is_a_dangling_question() -> None:
    paths = project_files(".py")
    assert len(paths) > 1000
    assert [str(path.relative_to(ROOT)) for path in paths if DANGLING.match(first_words(path))] == []


def test_docstrings_of_modules_begin_with_a_verb() -> None:
    names = {str(path.relative_to(ROOT)): path for path in project_files(".py")}
    rooms = {name: path for name, path in names.items() if not name.startswith("tests/") and "/migrations/" not in name}
    assert len(rooms) > 1000
    assert [name for name, path in rooms.items() if NO_VERB.match(first_words(path))] == []
