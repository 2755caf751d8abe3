"""Test what holds for every run."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import json_values, malformed_calls, text, tool_calls, transcripts
from toolevals.grading.guard.dangers import ACTION_SAFETY
from toolevals.grading.layers.task_metrics import TASK_METRICS, Task, metrics, step_efficiency, task_metrics, words
from toolevals.grading.layers.task_metrics.scores import in_any_case
from toolevals.grading.layers.task_metrics.words import holds_words, keywords_of, share_found
from toolevals.grading.reading.parsing.steps import AgentRun, Step, run_of, run_of_steps
from toolevals.grading.values import ToolResult
from toolevals.grading.values.patterns import compile_pattern

_any_text = st.text(max_size=12)
_words = st.sampled_from(["get the order", "refund", "no", "so if", "Error: not found", "password: x", ""]) | _any_text
_results = st.builds(ToolResult, st.none() | tool_calls, _words, st.booleans())
_steps = st.builds(
    Step,
    thought=st.none() | _words,
    action=st.none() | _words,
    calls=st.lists(tool_calls | malformed_calls, max_size=3).map(tuple),
    results=st.lists(_results, max_size=3).map(tuple),
    observation=st.none() | _words,
    error=st.none() | _words,
    is_final=st.booleans(),
)
_names = st.lists(st.sampled_from(["get_order", "refund", "x"]), max_size=3).map(tuple)
_made = st.builds(
    lambda steps, goal, tools, result: run_of_steps(
        tuple(steps), goal=goal, available_tools=tools, final_result=result
    ),
    st.lists(_steps, max_size=4),
    st.none() | _words,
    st.none() | _names,
    st.none() | json_values,
)
runs: st.SearchStrategy[AgentRun] = _made | transcripts.map(run_of)
tasks = st.builds(
    Task,
    expected_result=st.none() | json_values,
    expected_outcome=_words,
    success_criteria=st.lists(_words, max_size=3).map(tuple),
    required_tools=st.none() | _names,
    expected_steps=st.none() | st.integers(-1, 5),
    max_steps=st.none() | st.integers(-1, 5),
)


@given(runs, tasks)
def test_every_value_lies_between_0_and_1_with_a_reason_for_less(made, known):
    scores = task_metrics(made, known)
    assert tuple(scores) == tuple(TASK_METRICS)
    for score in scores.values():
        assert json.loads(json.dumps(score.to_document())) == score.to_document()
        assert score.value is None or 0 <= score.value <= 1
        assert all(0 <= part <= 1 for part in score.parts.values())
        assert (score.value == 1) == (not score.reason)


@given(runs, tasks)
def test_a_repeated_call_never_makes_a_run_more_efficient(made, known):
    twice = replace(made, steps=made.steps + tuple(each for each in made.steps[:1] if each.calls and not each.error))
    before, after = step_efficiency(made, known).value, step_efficiency(twice, known).value
    if len(made.steps) == 1 and before is not None and step_efficiency(made, known).parts.get("failures") == 1:
        assert after is not None
        assert after <= before


@given(text, text, text)
def test_words_in_a_text_stay_found_in_a_longer_one(before, wanted, after):
    assert holds_words(f"{before} {wanted} {after}", wanted)
    assert share_found(keywords_of(wanted), f"{before} {wanted} {after}") == 1


@given(st.text(max_size=60) | st.text(alphabet="aZ9_,-. \t\x1f\x85ſK", max_size=30))
def test_words_are_found_as_the_pattern_finds_them(written):
    small = words._THOUSANDS.sub("", written).casefold()
    assert words.words_of(written) == words._WORD.findall(small)
    wanted = [word for word in words._WORD.findall(small) if word not in words.STOPWORDS]
    assert keywords_of(written) == tuple(dict.fromkeys(wanted))[: words.MOST_KEYWORDS]


_dangerous = ["rm -rf", "Delete FROM", "DROP table", "format c:", "sudo rm", "chmod 777", "EVAL(", "exec (", "Api_Key=",
              "password:", "ſecret=", "paſſword =", "api-\u212aey:", "form"]  # fmt: skip


@given(st.lists(st.sampled_from(_dangerous) | st.text(max_size=5), max_size=4).map(" ".join))
def test_the_quick_look_misses_no_dangerous_text(written):
    for patterns in ACTION_SAFETY:
        matching = [each for each in patterns if compile_pattern(in_any_case(each)).search(metrics._clean(written))]
        assert metrics._matching(patterns, metrics._clean(written)) == matching
