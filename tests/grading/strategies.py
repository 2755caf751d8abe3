"""Values that hypothesis draws for the core's laws."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from toolevals.grading import values as v
from toolevals.grading.values import matchers as m

# For laws about whole cases: their draws take longer than what they check.
whole_cases = settings(max_examples=30)

# What JSON can say: no NUL, no lone surrogate.
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = ("get_order", "get.order", "refund", "lock-door")
names = st.sampled_from(NAMES)
keys = st.sampled_from(["a", "b", "room", "order id", "ключ"])
# Few enough that two draws are often equal.
small = st.sampled_from([None, True, False, 0, 1, 1.0, "1", "a", " a", "A-1", [1], {"a": 1}])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=8
)
arguments = st.dictionaries(keys, small | json_values, max_size=3)


def _matchers(inner: st.SearchStrategy[m.Matcher]) -> st.SearchStrategy[m.Matcher]:
    optional = st.booleans()
    return st.builds(
        m.Fields,
        st.dictionaries(keys, inner, max_size=2),
        optional=optional,
        additional_fields=optional,
    ) | st.builds(m.Items, st.lists(inner, max_size=2).map(tuple), optional=optional)


_optional = {"optional": st.booleans()}
_leaf: st.SearchStrategy[Any] = st.one_of(
    st.builds(m.Exact, small | json_values, **_optional),
    st.builds(m.KeyOnly, **_optional),
    st.builds(m.OneOf, st.lists(json_values, min_size=1, max_size=3).map(tuple), **_optional),
    st.builds(
        lambda low, width, optional: m.Range(low, low + width, optional=optional),
        st.integers(-5, 5),
        st.integers(0, 5),
        **_optional,
    ),
    st.builds(m.Range, st.integers(-5, 5), st.none(), **_optional),
    st.builds(m.Pattern, st.sampled_from(["^a", "[0-9]+", "b$"]), **_optional),
    st.builds(m.Contains, text, **_optional),
    st.builds(m.HasPrefix, text, **_optional),
    st.builds(m.HasSuffix, text, **_optional),
    st.builds(m.NaturalLanguage, st.just("a polite sentence"), **_optional),
    st.builds(m.Absent, **_optional),
    st.builds(
        m.Approximately, st.integers(-5, 5) | st.floats(-5, 5), st.sampled_from([0, 0.5, 1]), st.none(), **_optional
    ),
    st.builds(m.Approximately, st.integers(-5, 5), st.none(), st.sampled_from([0.1, 2]), **_optional),
    st.builds(
        m.DateEqual, st.sampled_from(["2025-04-03", "3 April 2025", "2025-04-03T10:00Z", "25/04/2025"]), **_optional
    ),
    st.builds(m.DateEqual, st.just("03/04/2025"), st.just(("DD/MM/YYYY",)), **_optional),
)
matchers: st.SearchStrategy[m.Matcher] = st.recursive(_leaf, _matchers, max_leaves=4)
call_expectations = st.builds(v.CallExpectation, names, st.dictionaries(keys, matchers, max_size=3), st.booleans())
choices = st.builds(v.OneOfCalls, st.lists(call_expectations, min_size=1, max_size=3).map(tuple))
expected_calls: st.SearchStrategy[v.Expected] = call_expectations | choices
steps = expected_calls | st.builds(v.AnyOrder, st.lists(expected_calls, min_size=1, max_size=2).map(tuple))
trajectories = st.builds(
    v.Trajectory,
    ordered=st.lists(steps, max_size=3).map(tuple),
    unordered=st.lists(expected_calls, max_size=2).map(tuple),
    disallowed=st.lists(call_expectations, max_size=2).map(tuple),
    additional_calls=st.booleans(),
)
profiles = st.sampled_from(["strict", "standard", "loose", "bfcl"])
expectations: st.SearchStrategy[v.Expectation] = st.one_of(
    st.builds(v.Expectation, kind=st.sampled_from(["no_call", "some_call"]), why=text, profile=profiles),
    st.builds(
        v.Expectation,
        kind=st.just("calls"),
        alternatives=st.lists(trajectories, min_size=1, max_size=2).map(tuple),
        profile=profiles,
    ),
)
tool_calls = st.builds(v.ToolCall, names, arguments, st.none() | st.just("call-1"))
malformed_calls = st.builds(
    v.MalformedCall, st.just("not JSON"), st.none() | st.integers(0, 9), text, st.none() | names
)
messages = st.builds(
    v.Message,
    role=st.sampled_from(["assistant", "tool", "user"]),
    content=st.none() | text,
    calls=st.lists(tool_calls | malformed_calls, max_size=3).map(tuple),
    call_id=st.none() | st.just("call-1"),
    is_error=st.booleans(),
)
transcripts = st.builds(
    v.Transcript,
    messages=st.lists(messages, max_size=3).map(tuple),
    answer=st.none() | text,
    usage=st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), st.integers(0, 9)),
    latency_ms=st.none() | st.floats(0, 1e6),
    error=st.none() | st.just("timed out"),
)
