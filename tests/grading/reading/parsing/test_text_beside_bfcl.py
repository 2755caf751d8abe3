"""Calls in text, beside what the leaderboard's own decoder reads in the same."""

from typing import Any

from tests.grading.benchmark import benchmark_rows, needs_benchmark
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.values import MalformedCall, ToolCall

# What the leaderboard's decoder makes of these is a fault of its, or a matter of taste in which we are more lenient.
DECODER_FAULTS = {
    "[f(1, 2)]": "drops positional arguments",
    "[f(1, b=2)]": "drops positional arguments",
    "[f(*a)]": "drops unpacked arguments",
    "[f(**{'a':1})]": "puts unpacked arguments under no name",
    "[f(a=+1)]": "reads any sign as minus",
    "[f(a=not True)]": "reads any sign as minus",
    "[f(a=True,b=None,c=false,d=null)]": "reads JSON's constants as text",
    "[f(a={1:2})]": "makes a key that JSON lacks",
    "[f(a=1j)]": "makes a value that JSON lacks",
    "[f(a=b'x')]": "makes a value that JSON lacks",
    "[f(a=...)]": "reads code as text",
    "[f(a=g(1))]": "reads code as text",
    "[f(a=g())]": "reads code as text",
    "[f(a=x[0])]": "reads code as text",
    "[f(a=g(b=1))]": "reads a call as an object",
    "[f(a=1+2*3)]": "evaluates",
    "[f(a='x'+'y')]": "evaluates",
    "[f(a=1,a=2)]": "loses one of two values",
    "[get_x().y(a=1)]": "loses half of the name",
    '[{"function":"f","parameters":{"a":1}},]': "loses the call for a comma",
    '[{"function":"f","parameters":{"a":"x}]y"}}]': "looks for brackets inside text",
    '[{"function":"f","parameters":"{\\"a\\":1}"}]': "leaves arguments as text",
}
# It raises, and there is a call that can be read.
DECODER_GAPS = {
    "```python\n[f(a=1)]\n```", "'[f(a=1)]'", '"[f(a=1)]"', "Sure! [f(a=1)]", "[f(a=1)] hope this helps",
    "[f(a=1)]\n[g(b=2)]", "[my-func(a=1)]", "[f(class='x')]", "f(a=1); g(b=2)", "[[f(a=1)]]", "(f(a=1), g(b=2))",
    "[f(a=- -1)]", '[{"name":"f","arguments":{"a":1}}]', "[f(a=1)]",
}  # fmt: skip
# Its verbose form in XML is none of ours.
NOT_READ = {"verbose_xml"}


@needs_benchmark
def test_wherever_the_leaderboards_decoder_is_right_we_read_the_same():
    faults, gaps = set(), set()
    rows = list(benchmark_rows("decode_cases.jsonl"))
    assert len(rows) == 79
    for row in rows:
        calls = calls_in_text(row["raw"])
        read = [{call.name: call.arguments} for call in calls if isinstance(call, ToolCall)]
        if row["format"] in NOT_READ:
            assert [type(call) for call in calls] == [MalformedCall]
        elif row["decoded"] is None:
            gaps |= {row["raw"]} if read else set()
        elif read != without_tuples(row["decoded"]):
            faults.add(row["raw"])
    assert faults == set(DECODER_FAULTS)
    assert gaps == DECODER_GAPS


def without_tuples(value: Any) -> Any:
    """Return a decoded value with tuples as the lists that they are in JSON."""
    if isinstance(value, dict):
        if "$tuple" in value:
            return without_tuples(value["$tuple"])
        return {key: without_tuples(item) for key, item in value.items()}
    return [without_tuples(item) for item in value] if isinstance(value, list) else value
