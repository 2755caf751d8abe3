from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.values import ToolSpec
from toolevals.runs.baseline.ranking import relevances

STATUS = ToolSpec("get_order_status", "Returns the shipping status of an order.")
HISTORY = ToolSpec("get_order_history", "Returns the last orders of a customer.")
WEATHER = ToolSpec("forecast", "Tells the weather in a city.")


def test_the_tool_that_shares_the_rarer_words_wins():
    status, history, weather = relevances("What is the shipping status of order 5?", [STATUS, HISTORY, WEATHER])

    assert status > history > weather == 0


def test_the_order_of_the_list_changes_no_score():
    forwards = relevances("order history of a customer", [STATUS, HISTORY, WEATHER])
    backwards = relevances("order history of a customer", [WEATHER, HISTORY, STATUS])

    assert forwards == pytest.approx(backwards[::-1])


def test_parameters_and_their_choices_are_read_too():
    plain = ToolSpec("book", "Reserves.")
    schema = {"properties": {"room": {"enum": ["suite"]}, "guests": {"items": {"properties": {"allergy": {}}}}}}
    detailed = ToolSpec("book", "Reserves.", schema)

    for request in ("suite", "room", "allergies"):
        first, second = relevances(request, [plain, detailed])
        assert second > first


@pytest.mark.parametrize(("request_", "tools"), [("", [STATUS]), ("the of a", [STATUS]), ("order", [])])
def test_nothing_to_compare_is_no_relevance(request_, tools):
    assert relevances(request_, tools) == [0.0] * len(tools)


@given(st.text(max_size=60), st.integers(1, 4))
def test_relevance_is_a_share(request_, copies):
    assert all(0 <= score < 1 for score in relevances(request_, [STATUS, HISTORY] * copies))


@given(
    st.recursive(
        # What a document can hold: no NUL and no lone surrogate.
        st.none()
        | st.integers()
        | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(st.sampled_from(["properties", "items", "enum", "description", "a"]), x, max_size=3)
        ),
    )
)
def test_a_schema_of_any_shape_is_survived(schema):
    tool = ToolSpec("a", "b", {"properties": schema})

    assert relevances("a b", [tool])[0] > 0
