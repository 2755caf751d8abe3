"""Conversations of several turns, graded by state: verdicts, reasons, what does not run, parity with the original."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.agents.leaderboard_like import GOLD, row, write_folder
from tests.grading.dialects.vectors.leaderboard_turns import KEPT, entries, prediction_of
from toolevals.agents.code import Limits, simulator
from toolevals.agents.code.leaderboard_simulators import LeaderboardSimulators
from toolevals.agents.code.leaderboard_turns import NO_LOGARITHM
from toolevals.grading.values.problems import InvalidDocument

BENCHMARK = Path(os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")) / "bfcl"
RIGHT = (["[post(text='open', tags=['news'])]"], ["[like(number=1)]", "[read(number=1)]", "It has one like now."])
STATE = "multi_turn:instance_state_mismatch"
RESPONSE = "multi_turn:execution_response_mismatch"
EMPTY = "multi_turn:empty_turn_model_response"

pytestmark = pytest.mark.usefixtures("sandbox")


@pytest.fixture(scope="module")
def simulators(tmp_path_factory: pytest.TempPathFactory) -> LeaderboardSimulators:
    return LeaderboardSimulators(write_folder(tmp_path_factory.mktemp("bfcl")))


def own(classes: list[str], made: Any, gold: Any, **others: Any) -> dict[str, Any]:
    """Return a row that has everything itself."""
    about = {"involved_classes": classes, "initial_config": {}, "possible_answer": gold, "prediction": made}
    return {"id": "mine", "category": "multi_turn_base", **about, **others}


@pytest.mark.parametrize(
    "turns",
    [
        RIGHT,
        ([GOLD[0]], [GOLD[1]]),
        ([[{"post": '{"text": "open", "tags": ["news"]}'}]], [[{"like": {"number": 1}}, {"read": {"number": 1}}]]),
        # What reads beforehand, in vain or too often, changes no state.
        ([*RIGHT[0], "[read(number=7), add(a=1, b=2)]"], RIGHT[1]),
        (["`post(text='open', tags=['news'])`"], RIGHT[1]),
    ],
)
def test_a_right_conversation_is_valid_in_every_form(simulators, turns):
    verdict = simulators.verdict(row(*turns))
    assert (verdict.valid, verdict.error_type, verdict.reason, verdict.unscored) == (True, None, None, None)


@pytest.mark.parametrize(
    ("turns", "error_type", "words"),
    [
        (
            (["[post(text='shut', tags=['news'])]"], RIGHT[1]),
            STATE,
            "turn 1: TwitterAPI.posts['1']['text'] is 'shut', expected 'open'",
        ),
        (
            (["[post(text='open', tags=['news', 'x'])]"], RIGHT[1]),
            STATE,
            "turn 1: TwitterAPI.posts['1']['tags'] is ['news', 'x'], expected ['news']",
        ),
        (
            (["[post(text='open', tags=['news']), post(text='x')]"], RIGHT[1]),
            STATE,
            "turn 1: TwitterAPI.posts['2'] is {'text': 'x', 'likes': 0, 'tags': []}, expected missing",
        ),
        ((RIGHT[0], ["[read(number=1)]"]), STATE, "turn 2: TwitterAPI.posts['1']['likes'] is 0, expected 1"),
        (
            (RIGHT[0], ["[like(number=1)]"]),
            RESPONSE,
            "turn 2: no call so far returned what read(number=1) returns: "
            '{"text": "open", "likes": 1, "tags": ["news"]}',
        ),
        ((RIGHT[0], ["I liked it."]), EMPTY, "turn 2: no call, and 2 expected"),
        ((RIGHT[0], ["[]", [], [{}], [{"like": "no JSON"}], 7]), EMPTY, "turn 2: no call, and 2 expected"),
        ((RIGHT[0],), "multi_turn:force_terminated", "the prediction has 1 turns, and 2 are expected"),
    ],
)
def test_a_wrong_one_says_which_turn_class_and_attribute(simulators, turns, error_type, words):
    verdict = simulators.verdict(row(*turns))
    assert (verdict.valid, verdict.error_type, verdict.reason) == (False, error_type, words)


@pytest.mark.parametrize("name", ["_load_scenario", "__init__", "eval", "TwitterAPI.like", "count", "exit"])
def test_only_public_methods_are_called(simulators, name):
    verdict = simulators.verdict(own(["TwitterAPI"], [[[{name: {}}], [{"read": {"number": 3}}]]], [["read(number=3)"]]))
    assert verdict.valid is True
    wanted = simulators.verdict(own(["TwitterAPI"], [[[{name: {}}]]], [["authenticate(user='lin')"]]))
    assert wanted.error_type == RESPONSE


def test_a_turn_without_expected_calls_is_run_and_not_judged(simulators):
    gold = [[], ["like(0)"]]
    about = {"initial_config": {"TwitterAPI": {"posts": {"0": {"likes": 0}}}}}
    assert simulators.verdict(own(["TwitterAPI"], [[], [["like(0)"]]], gold, **about)).valid
    assert simulators.verdict(own(["TwitterAPI"], [[["read(0)"]], [["like(0)"]]], gold, **about)).valid
    assert simulators.verdict(own(["TwitterAPI"], [[["like(0)"]], [["like(0)"]]], gold, **about)).error_type == STATE


def test_of_two_classes_with_a_method_of_one_name_the_later_has_it(simulators):
    gold = [["authenticate(user='lin')"]]
    for classes, class_name in ((["TwitterAPI", "TicketAPI"], True), (["TicketAPI", "TwitterAPI"], False)):
        verdict = simulators.verdict(own(classes, [[["authenticate(user='kim')", "authenticate(user='lin')"]]], gold))
        assert verdict.valid
        other = simulators.verdict(own(classes, [[["authenticate(user='kim')"]]], gold))
        assert other.error_type == (STATE if class_name else RESPONSE)


def test_a_long_context_begins_with_more_and_leaves_nothing_behind(simulators):
    gold = [["read(900)"]]
    about = own(["TwitterAPI"], [[["like(900)"]]], gold, category="multi_turn_long_context")
    # The table is the module's own, in which both sides write; the next conversation has another.
    for _ in range(2):
        assert (simulators.verdict(about).reason or "").endswith('{"text": "an old one", "likes": 1}')
    short = simulators.verdict({**about, "category": "multi_turn_base"})
    assert (short.valid, short.reason) == (True, None), "both raise that there is none"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            row(["[post(text=read(number=0))]"], []),
            "Turn 1: an argument in [post(text=read(number=0))] is not a plain value",
        ),
        (row([["like(*x)"]], []), "is not a plain value"),
        (row(["[like(number=1+1)]"], []), "is not a plain value"),
        (own(["MemoryAPI_kv"], [], []), "The class MemoryAPI_kv does not run here: GorillaFileSystem, MathAPI"),
        (own(["TwitterAPI"], [], [], initial_config={"TwitterAPI": 3}), "The simulators failed: AttributeError"),
    ],
)
def test_what_cannot_be_run_is_unscored_by_name(simulators, given, words):
    verdict = simulators.verdict(given)
    assert verdict.valid is None
    assert words in (verdict.unscored or "")


def test_a_logarithm_needs_mpmath(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    gold = [["logarithm(value=8, base=2, precision=4)"]]
    simulators = LeaderboardSimulators(write_folder(tmp_path))
    verdict = simulators.verdict(own(["MathAPI"], [[gold[0]]], gold))
    assert verdict.unscored == NO_LOGARITHM
    assert simulators.verdict(own(["MathAPI"], [[["add(a=1, b=2)"]]], [["add(b=1, a=2)"]])).valid


def test_a_call_without_end_is_unscored_and_the_next_row_is_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(simulator, "Limits", lambda: Limits(seconds=0.5))
    quick = LeaderboardSimulators(write_folder(tmp_path))
    verdict = quick.verdict(own(["TwitterAPI"], [[["forever()"]]], [["read(0)"]]))
    assert "it took too long" in (verdict.unscored or "")
    assert quick.verdict(row(*RIGHT)).valid


def test_where_there_is_no_sandbox_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    verdict = LeaderboardSimulators(write_folder(tmp_path)).verdict(row(*RIGHT))
    assert verdict.valid is None
    assert "bubblewrap is not installed" in (verdict.unscored or "")


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({**row(), "id": 3}, "/id"),
        ({**row(), "id": "multi_turn_base_9"}, "/id"),
        ({**row(), "category": "multi_turn_other"}, "/category"),
        ({"id": "multi_turn_base_0"}, "/prediction"),
        (row([], 3), "/prediction/1"),
        (row([], possible_answer=3), "/possible_answer"),
        (row([], possible_answer=[3]), "/possible_answer/0"),
        (row([], possible_answer=[["like(1)", "like"]]), "/possible_answer/0/1"),
        (row([], [], initial_config=[]), "/initial_config"),
        (row([], [], involved_classes=None), "/involved_classes"),
    ],
)
def test_a_row_of_another_form_is_refused_by_its_place(simulators, given, pointer):
    with pytest.raises(InvalidDocument) as raised:
        simulators.verdict(given)
    assert raised.value.problems[0].pointer == pointer


@pytest.mark.skipif(
    not (BENCHMARK / "simulators").is_dir(),
    reason="the benchmark's own simulators are not here: toolevals download bfcl $TOOLEVALS_BENCHMARK_DATA/bfcl",
)
def test_every_verdict_of_the_benchmarks_own_checker_is_reproduced():
    kept = {each["id"]: each["error_types"] for each in map(json.loads, KEPT.read_text("utf-8").splitlines())}
    simulators = LeaderboardSimulators(BENCHMARK)
    differs, unscored, same = [], [], 0
    for question, gold in entries(BENCHMARK, 20):
        for number, error_type in enumerate(kept[question["id"]]):
            made = prediction_of(gold, question["id"], number)
            verdict = simulators.verdict({"id": question["id"], "result": made})
            if verdict.unscored is not None:
                unscored.append(verdict.unscored)
            elif verdict.error_type == error_type:
                same += 1
            else:
                differs.append((question["id"], number, error_type, verdict))
    assert differs == []
    assert set(unscored) <= {NO_LOGARITHM}
    assert same + len(unscored) == 320
