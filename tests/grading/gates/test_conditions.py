import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.gates.conditions import (
    OPERATORS,
    CaseAssertion,
    Condition,
    ConditionError,
    parse_case_assertion,
    parse_condition,
)
from toolevals.grading.gates.metrics import STATISTICS

numbers = st.integers(0, 1000).map(lambda n: n / 100)

PUBLISHED = [
    "tool_name_f1.score >= 0.95 for at_least 95% of cases",
    "argument_validation.score >= 0.90 for at_least 90% of cases",
    "argument_semantics.score >= 0.85 for at_least 85% of cases",
    "result_groundedness.score >= 0.90 for at_least 90% of cases",
    "trajectory_recovery.score >= 0.80 for at_least 85% of cases",
]


@pytest.mark.parametrize("text", PUBLISHED)
def test_the_published_assertions_are_read(text):
    assertion = parse_case_assertion(text)
    assert assertion.condition.subject == text.split(".")[0]
    assert assertion.condition.operator == ">="
    assert parse_case_assertion(str(assertion)) == assertion


def test_an_assertion_has_its_parts():
    assertion = parse_case_assertion("  tool_name_f1.score>=0.95 for at_least 97.5 % of cases ")
    assert assertion == CaseAssertion(Condition("tool_name_f1", ">=", 0.95), 0.975)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_takes_every_operator(statistic, operator):
    assert parse_condition(f"{statistic} {operator} .85", STATISTICS) == Condition(statistic, operator, 0.85)


def test_a_range_is_read():
    condition = parse_condition("0.5<= avg_score <=1.0", STATISTICS)
    assert condition == Condition("avg_score", ">=", 0.5, 1.0)
    assert (str(condition), condition.words) == ("0.5 <= avg_score <= 1", "between 0.5 and 1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a statistic, not the end at character 1"),
        ("pass_rate", "expected one of >= <= > < == !=, not the end at character 10"),
        ("pass_rate = 1", "cannot read '= 1' at character 11"),
        ("pass_rate >= 1.2.3", "cannot read '1.2.3' at character 14"),
        ("pass_rate >= x", "expected a number, not x at character 14"),
        ("pass_rate >= 1 and", "expected the end, not and at character 16"),
        ("speed >= 1", "speed is not one of the statistics pass_rate"),
        ("1 < avg_score <= 2", "expected <=, not < at character 3"),
        ("1 <= avg_score < 2", "expected <=, not < at character 16"),
        ("2 <= avg_score <= 1", "1 is below 2, so no value can be between at character 19"),
        ("pass_rate >= 1" + "0" * 400, "a number too large at character 14"),
        ("pass_rate >= ٣", "cannot read '٣' at character 14"),
    ],
)
def test_the_place_of_a_fault_is_named(text, words):
    with pytest.raises(ConditionError) as error:
        parse_condition(text, STATISTICS)
    assert str(error.value).startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tool_name_f1 >= 1 for at_least 5% of cases", "expected METRIC.score, not tool_name_f1 at character 1"),
        (".score >= 1", "cannot read '.score >= 1' at character 1"),
        ("a.score >= 1 for at_least 101% of cases", "101% is not between 0% and 100% at character 27"),
        ("a.score >= 1 for at_most 5% of cases", "expected at_least, not at_most at character 18"),
        ("a.score >= 1 for at_least 5 of cases", "expected %, not of at character 29"),
        ("a.score >= 1 for at_least 5% of cases now", "expected the end, not now at character 39"),
    ],
)
def test_the_place_of_a_fault_in_an_assertion_is_named(text, words):
    with pytest.raises(ConditionError) as error:
        parse_case_assertion(text)
    assert str(error.value) == words


@given(st.text(max_size=60) | st.text(alphabet="ab.<>=! 0123456789%_for", max_size=60))
def test_any_text_is_read_or_refused_at_a_place(text):
    places = []
    try:
        parse_case_assertion(text)
    except ConditionError as error:
        places.append(error.position)
    try:
        parse_condition(text, STATISTICS)
    except ConditionError as error:
        places.append(error.position)
    # No text is both.
    assert places
    assert all(0 <= place <= len(text) for place in places)


@given(st.sampled_from(OPERATORS), numbers, numbers, numbers)
def test_a_range_is_answered_as_all_its_values_are(operator, bound, one, other):
    condition = Condition("x", operator, bound)
    low, high = sorted((one, other))
    answer = condition.holds(low, high)
    ends = {condition.holds(low), condition.holds(high), condition.holds((low + high) / 2)}
    if low <= bound <= high:
        ends.add(condition.holds(bound))
    assert None not in ends
    if answer is not None:
        assert ends == {answer}
    else:
        assert len(ends) == 2


@pytest.mark.parametrize(
    ("operator", "below", "at", "above"),
    [
        (">=", False, True, True),
        ("<=", True, True, False),
        (">", False, False, True),
        ("<", True, False, False),
        ("==", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_operators_mean_what_they_say(operator, below, at, above):
    condition = Condition("x", operator, 0.5)
    assert [condition.holds(value) for value in (0.4, 0.5, 0.6)] == [below, at, above]
    # What only the sum of floats makes different is not different.
    assert condition.holds(0.5 + 1e-15) is condition.holds(0.5 - 1e-15) is at


def test_between_includes_both_ends():
    condition = Condition("x", ">=", 0.2, 0.4)
    assert [condition.holds(value) for value in (0.1, 0.2, 0.3, 0.4, 0.5)] == [False, True, True, True, False]
    assert [condition.holds(*ends) for ends in ((0.1, 0.3), (0.3, 0.5), (0.25, 0.35), (0.5, 0.6))] == [
        None,
        None,
        True,
        False,
    ]
