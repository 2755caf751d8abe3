"""Trajectories of the kinds that the field's documentation describes."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.alignment.trajectory import Alignment, align, compile_trajectory
from toolevals.grading.matching.compiled_calls import CompiledCall
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import AnyOrder, CallExpectation, OneOfCalls, ToolCall, Trajectory
from toolevals.grading.values.matchers import Contains, Exact, Range

STANDARD = PROFILES["standard"]
LIGHTS = CallExpectation("set_lights", {"room": Exact("living room"), "brightness": Range(5, 40)})
SCREEN = CallExpectation("set_tv", {"power": Exact("on")})
DIM = ToolCall("set_lights", {"room": "living room", "brightness": 20})
ON = ToolCall("set_tv", {"power": "on"})
READ = ToolCall("get_thermostat", {})
READ_DUE = CallExpectation("get_thermostat")


def aligned(trajectory: Trajectory, *calls: ToolCall) -> Alignment:
    return align(compile_trajectory(trajectory, STANDARD), calls, STANDARD)


def verdict(trajectory: Trajectory, *calls: ToolCall) -> tuple[bool, float]:
    """tools_all_pass and tools_percentage_pass."""
    alignment = aligned(trajectory, *calls)
    return alignment.tools_are_right and alignment.matched == alignment.total, round(alignment.share, 4)


def test_ordered_calls_in_order_with_others_between():
    movie = Trajectory((LIGHTS, SCREEN))
    assert verdict(movie, DIM, ON) == (True, 1)
    assert verdict(movie, DIM, READ, ON) == (True, 1)
    assert verdict(movie, ON, DIM) == (False, 0.5)
    assert aligned(movie, ON, DIM).out_of_order
    assert verdict(movie) == (False, 0)


def test_unordered_calls_anywhere():
    out = Trajectory(
        unordered=(
            CallExpectation("set_lights", {"room": Contains("all"), "brightness": Exact(0)}),
            CallExpectation("lock_door", {"door": Exact("front")}),
            CallExpectation("set_thermostat", {"preset": Exact("cool")}),
        )
    )
    lock, cool = ToolCall("lock_door", {"door": "front"}), ToolCall("set_thermostat", {"preset": "cool"})
    dark = ToolCall("set_lights", {"room": "all rooms", "brightness": 0})
    assert verdict(out, cool, dark, lock) == (True, 1)
    assert verdict(out, lock) == (False, 0.3333)


def test_ordered_and_unordered_both_hold():
    bed = Trajectory((CallExpectation("lock_door"), LIGHTS), (SCREEN,))
    lock = ToolCall("lock_door", {})
    assert verdict(bed, ON, lock, DIM) == (True, 1)
    assert verdict(bed, lock, ON, DIM) == (True, 1)
    assert verdict(bed, lock, DIM) == (False, 0.6667)


def test_an_any_order_group_fills_one_position():
    home = Trajectory((CallExpectation("unlock_door"), AnyOrder((LIGHTS, SCREEN))), additional_calls=False)
    unlock = ToolCall("unlock_door", {})
    assert verdict(home, unlock, ON, DIM) == (True, 1)
    assert verdict(home, unlock, DIM, ON) == (True, 1)
    assert verdict(home, DIM, unlock, ON)[0] is False
    assert verdict(home, unlock, DIM, ON, READ) == (False, 1)


def test_a_disallowed_tool_or_only_disallowed_arguments():
    ask = Trajectory((CallExpectation("get_thermostat"),), disallowed=(CallExpectation("set_tv"),))
    assert verdict(ask, READ) == (True, 1)
    assert verdict(ask, READ, ON) == (False, 1)
    some = Trajectory(disallowed=(CallExpectation("set_tv", {"power": Exact("off")}),))
    assert verdict(some, ON) == (True, 1)
    assert verdict(some, ToolCall("set_tv", {"power": "off"})) == (False, 0)


def test_a_violation_counts_even_where_the_call_was_expected_too():
    both = Trajectory((SCREEN,), disallowed=(CallExpectation("set_tv", {"power": Exact("on")}),))
    assert verdict(both, ON) == (False, 1)


def test_one_call_serves_one_expectation():
    twice = Trajectory(unordered=(SCREEN, SCREEN))
    assert verdict(twice, ON) == (False, 0.5)
    assert verdict(twice, ON, ON) == (True, 1)


@strategies.whole_cases
@given(strategies.trajectories, strategies.profiles)
def test_an_alignment_uses_each_call_once_and_leaves_nothing_out(trajectory, name):
    profile = PROFILES[name]
    calls = [ToolCall(call.tool, dict.fromkeys(call.arguments, "a")) for call in trajectory.calls][::-1]
    alignment = align(compile_trajectory(trajectory, profile), calls, profile)
    expected = sorted([each for each, _ in alignment.pairs] + list(alignment.unmatched_expected))
    actual = sorted([each for _, each in alignment.pairs] + list(alignment.unmatched_actual))
    assert expected == list(range(alignment.total))
    assert actual == list(range(len(calls)))
    assert 0 <= alignment.share <= 1


def test_a_choice_is_filled_by_whichever_call_fits_and_counts_as_one():
    either = OneOfCalls((LIGHTS, SCREEN))
    assert verdict(Trajectory((either,)), ON) == (True, 1)
    assert verdict(Trajectory((either,)), DIM) == (True, 1)
    assert verdict(Trajectory((either,)), READ) == (False, 0)
    assert verdict(Trajectory((either, CallExpectation("get_thermostat"))), ON, READ) == (True, 1)
    assert verdict(Trajectory((either, CallExpectation("get_thermostat"))), READ, ON) == (False, 0.5)
    assert verdict(Trajectory((CallExpectation("unlock_door"), AnyOrder((either, SCREEN)))), ON, DIM) == (False, 0.6667)
    assert verdict(Trajectory(unordered=(either, either), additional_calls=False), ON, DIM) == (True, 1)
    # The screen is wanted elsewhere, so the choice has to take the lights.
    assert verdict(Trajectory(unordered=(either, SCREEN)), ON, DIM) == (True, 1)


def test_of_a_choice_the_option_is_taken_that_fits_best():
    off, on = (CallExpectation("set_tv", {"power": Exact(power)}) for power in ("off", "on"))
    alignment = aligned(Trajectory((OneOfCalls((off, on)),)), ON)
    assert alignment.compiled.calls[0].expectation is on
    assert alignment.due(0) == "set_tv"
    missed = aligned(Trajectory((OneOfCalls((LIGHTS, off, on)),)), READ)
    assert missed.due(0) == "set_lights or set_tv"


def test_a_wrong_argument_of_a_choice_is_no_missed_call():
    off = CallExpectation("set_tv", {"power": Exact("off")})
    alignment = aligned(Trajectory((OneOfCalls((LIGHTS, off)), READ_DUE)), ON, READ)
    assert (alignment.matched, alignment.total, alignment.unmatched_expected) == (1, 2, ())


@strategies.whole_cases
@given(strategies.trajectories, st.lists(strategies.tool_calls, max_size=4), strategies.tool_calls, st.integers(0, 4))
def test_a_further_call_never_lowers_the_share_that_is_matched(trajectory, calls, more, place):
    if trajectory.expected:
        assert aligned(trajectory, *calls[:place], more, *calls[place:]).share >= aligned(trajectory, *calls).share


def test_the_share_is_the_most_that_matches_even_where_tools_come_first():
    one, two = (CallExpectation("set_tv", {"power": Exact(power)}) for power in ("on", "off"))
    wrong, off = ToolCall("set_tv", {"power": "dim"}), ToolCall("set_tv", {"power": "off"})
    trajectory = Trajectory((one, two, READ_DUE))
    assert verdict(trajectory, READ, ON, off) == (False, 0.6667)
    alignment = aligned(trajectory, wrong, wrong, READ, ON, off)
    # Every tool was called in order, so no call is shown as missed; and two of three could be matched.
    assert (alignment.tools_are_right, alignment.matched, round(alignment.share, 4)) == (True, 1, 0.6667)


@strategies.whole_cases
@given(strategies.trajectories, st.lists(strategies.tool_calls, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_calls_is_free_where_nothing_is_ordered(trajectory, calls, shuffle):
    unordered = Trajectory((), trajectory.expected, trajectory.disallowed, trajectory.additional_calls)
    shuffled = aligned(unordered, *shuffle.sample(calls, len(calls)))
    assert (shuffled.matched, len(shuffled.pairs)) == (
        aligned(unordered, *calls).matched, len(aligned(unordered, *calls).pairs)
    )  # fmt: skip


def test_sixty_four_parallel_calls_of_one_tool_are_compared_once_each():
    expected = tuple(CallExpectation("t", {"n": Exact(number)}) for number in range(64))
    compiled = compile_trajectory(Trajectory(unordered=expected), STANDARD)
    calls = [ToolCall("t", {"n": number}) for number in range(64)][::-1]
    with patch.object(CompiledCall, "check", autospec=True, side_effect=CompiledCall.check) as check:
        assert align(compiled, calls, STANDARD).matched == 64
    # Each call is put to each expected one; work is counted, because time depends on what else the machine does.
    assert check.call_count == 64 * 64
