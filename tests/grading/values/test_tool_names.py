"""Names of tools as providers and clients write them: which tool is meant, and what is said where none is."""

import pytest

from toolevals.agents.openai_messages import WireNames
from toolevals.grading.engine.case_metrics import case_metrics
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade
from toolevals.grading.values import Expectation, Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.tools import candidates, near_miss
from toolevals.grading.values.verdicts import CaseGrade

CREATE, LIST = (ToolSpec(name, "", {"type": "object"}) for name in ("issues/create", "issues.list"))
SEARCH, OTHER = (ToolSpec(name, "", {"type": "object"}) for name in ("search", "a_b"))
TOOLS = (CREATE, LIST, SEARCH, OTHER)


def _graded(
    name: str, tool: str = "issues/create", tools: tuple[ToolSpec, ...] = TOOLS
) -> tuple[CompiledCase, Transcript, CaseGrade]:
    compiled = compile_case(Expectation.single(tool, {}), tools)
    transcript = Transcript((Message("assistant", None, (ToolCall(name, {}),)),))
    return compiled, transcript, grade(compiled, transcript)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("issues_create", "issues/create"),
        ("issues_list", "issues.list"),
        ("functions.search", "search"),
        ("functions.issues_create", "issues/create"),
        ("default_api.search", "search"),
        ("mcp__github__search", "search"),
        ("mcp__git__hub__issues_create", "issues/create"),
        ("mcp__github__issues/create", "issues/create"),
    ],
)
def test_another_spelling_of_a_tool_is_that_tool_and_the_reason_says_so(written, meant):
    compiled, transcript, graded = _graded(written, meant)
    assert (graded.statuses["outcome"], graded.expected, graded.actual) == ("passed", meant, meant)
    assert f"{written} was read as {meant}." in graded.verdicts["selection"].reason
    assert case_metrics(compiled, transcript, graded)["tools_all_pass"].status == "passed"


def test_what_a_live_run_shows_is_read_of_an_upload():
    names = WireNames(TOOLS)
    for tool, shown in zip(TOOLS, names.shown_tools(TOOLS), strict=True):
        assert _graded(shown.name, tool.name)[2].statuses["outcome"] == "passed"


def test_the_name_that_a_tool_has_comes_before_one_that_looks_like_it():
    dotted = ToolSpec("a.b", "", {"type": "object"})
    assert _graded("a_b", "a_b", (*TOOLS, dotted))[2].statuses["outcome"] == "passed"
    assert _graded("a_b", "a.b", (*TOOLS, dotted))[2].statuses["outcome"] == "failed"
    assert candidates("functions.a_b", (*TOOLS, dotted)) == ["a_b"]


def test_two_tools_that_are_written_alike_stay_unknown_and_both_are_named():
    tools = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("a.b", "a/b"))
    _, _, graded = _graded("a_b", "a.b", tools)
    assert (graded.statuses["selection"], graded.actual) == ("failed", "(unknown tool)")
    assert "a_b is not offered: it may be a.b or a/b, which are written alike." in graded.verdicts["selection"].reason


def test_a_near_miss_is_named_and_stays_unknown():
    _, _, graded = _graded("issue_create")
    assert graded.tag
    assert graded.actual == "(unknown tool)"
    assert "the nearest name offered is issues/create" in graded.verdicts["outcome"].reason
    assert near_miss("weather", TOOLS) == near_miss("x" * 10_000, TOOLS) == ""


def test_a_prefix_alone_names_no_tool():
    for written in ("search_", "mcp__search", "other.search", "functions.", "mcp__a__b"):
        assert candidates(written, TOOLS) == []


def test_without_known_tools_nothing_is_renamed():
    assert _graded("issues_create", tools=())[2].statuses["selection"] == "failed"
