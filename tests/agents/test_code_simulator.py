"""Simulators that are code: worlds, states, errors, and what happens to a process. In the sandbox and out of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.players import call
from toolevals.agents.code import CodeSimulator, NoSandboxError, tools_of_code
from toolevals.agents.code.simulator import CodeBrokenError
from toolevals.agents.scripted import ScriptedSimulator
from toolevals.agents.worlds import NotSimulatedError, WorldDiedError

SHOP = """
import os

from prices import PRICES

STATE = {"orders": {"A-1": {"state": "paid"}}}


def get_order(state, order_id):
    return state["orders"][order_id]


def cancel_order(state, order_id):
    if state["orders"][order_id]["state"] != "paid":
        raise ValueError("too late to cancel")
    state["orders"][order_id]["state"] = "cancelled"
    return "done"


def price(state, sku):
    return PRICES[sku]


def process(state):
    return os.getpid()


def leave(state):
    os._exit(7)


def nonsense(state):
    return {1, 2}


def _helper(state):
    return None
"""
FILES = {"simulator.py": SHOP, "prices/__init__.py": "PRICES = {'MUG': 9.5}"}
ADAPTER = '''
"""Ten lines between a benchmark's classes, which are not ours to change, and this simulator."""
import inspect

from benchmark import tools
from benchmark.data import load

STATE = load()
TOOLS = {
    tool.NAME: lambda state, tool=tool, **arguments: tool.invoke(state, **arguments)
    for _, tool in inspect.getmembers(tools, inspect.isclass)
}
'''
BENCHMARK = {
    "benchmark/__init__.py": "",
    "benchmark/data/__init__.py": (
        "import json, pathlib\n\n\ndef load():\n"
        "    return json.loads(pathlib.Path(__file__).with_name('users.json').read_text())\n"
    ),
    "benchmark/data/users.json": '{"users": {"u1": {"city": "Ulm"}}}',
    "benchmark/tools.py": (
        "class FindUser:\n    NAME = 'find-user'\n\n    @staticmethod\n    def invoke(data, user_id):\n"
        "        return data['users'][user_id]\n\n\n"
        "class Move:\n    NAME = 'move'\n\n    @staticmethod\n    def invoke(data, user_id, city):\n"
        "        data['users'][user_id]['city'] = city\n        return 'moved'\n"
    ),
}


def example(**simulation: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hi"}], "simulation": simulation}


@pytest.fixture(params=[True, False], ids=["trusted", "sandboxed"])
def trusted(request: pytest.FixtureRequest) -> bool:
    if not request.param:
        request.getfixturevalue("sandbox")
    return bool(request.param)


def test_tools_change_the_state_of_their_own_world_alone(trusted):
    with CodeSimulator(FILES, trusted=trusted) as simulator:
        assert simulator.tools() == ["get_order", "cancel_order", "price", "process", "leave", "nonsense"]
        for _ in range(2):
            with simulator.world(example()) as world:
                assert world.state() == {"orders": {"A-1": {"state": "paid"}}}
                assert world.call(call("cancel_order", order_id="A-1")).content == "done"
                assert world.call(call("get_order", order_id="A-1")).content == '{"state": "cancelled"}'
                assert world.call(call("price", sku="MUG")).content == "9.5"
                assert world.state() == {"orders": {"A-1": {"state": "cancelled"}}}


def test_the_example_says_how_its_world_begins(trusted):
    given = {"orders": {"B-2": {"state": "sent"}}}
    with CodeSimulator(FILES, trusted=trusted) as simulator:
        with simulator.world(example(state=given)) as world:
            answer = world.call(call("cancel_order", order_id="B-2"))
            assert answer.is_error
            assert answer.content == "ValueError: too late to cancel"
            assert world.state() == given
        with simulator.world(example()) as world:
            assert "A-1" in str(world.state())


def test_a_call_that_fits_no_signature_is_the_tools_error_and_a_strange_tool_is_nobodys(trusted):
    with CodeSimulator(FILES, trusted=trusted) as simulator, simulator.world(example()) as world:
        assert "unexpected keyword argument 'colour'" in world.call(call("get_order", colour="red")).content
        assert world.call(call("get_order", order_id="Z")).content == "KeyError: 'Z'"
        for name in ("_helper", "STATE", "os", "fly"):
            with pytest.raises(NotSimulatedError):
                world.call(call(name))


def test_a_process_serves_one_world_after_another_and_two_at_once_have_two(trusted):
    with CodeSimulator(FILES, trusted=trusted) as simulator:

        def process() -> str:
            with simulator.world(example()) as world:
                return world.call(call("process")).content

        first = process()
        assert process() == first
        with simulator.world(example()) as world, simulator.world(example()) as other:
            # In the sandbox each process is alone and has the same number; what one changes, the other does not see.
            world.call(call("cancel_order", order_id="A-1"))
            assert "paid" in str(other.state())


def test_a_process_that_ends_takes_its_world_along_and_the_next_has_a_new_one(trusted):
    with CodeSimulator(FILES, trusted=trusted) as simulator:
        with simulator.world(example()) as world, pytest.raises(WorldDiedError, match="ended by itself"):
            world.call(call("leave"))
        with simulator.world(example()) as world:
            assert world.call(call("price", sku="MUG")).content == "9.5"


def test_what_json_cannot_say_is_the_codes_mistake_and_no_answer_of_a_tool(trusted):
    with CodeSimulator(FILES, trusted=trusted) as simulator, simulator.world(example()) as world:
        with pytest.raises(WorldDiedError, match="what JSON cannot say"):
            world.call(call("nonsense"))
        assert world.call(call("price", sku="MUG")).content == "9.5"


def test_a_simulator_that_somebody_else_wrote_needs_ten_lines(trusted):
    assert len(ADAPTER.strip().splitlines()) == 11
    with CodeSimulator({"simulator.py": ADAPTER, **BENCHMARK}, trusted=trusted) as simulator:
        assert simulator.tools() == ["find-user", "move"]
        with simulator.world(example()) as world:
            assert world.call(call("move", user_id="u1", city="Bonn")).content == "moved"
            assert world.call(call("find-user", user_id="u1")).content == '{"city": "Bonn"}'


def test_scripted_results_of_the_example_stand_before_the_code(trusted):
    scripted = example(results=[{"tool": "price", "result": "for free", "times": 1}])
    with CodeSimulator(FILES, trusted=trusted) as code, ScriptedSimulator(behind=code).world(scripted) as world:
        assert [world.call(call("price", sku="MUG")).content for _ in range(2)] == ["for free", "9.5"]
        assert world.state() == {"orders": {"A-1": {"state": "paid"}}}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def (", "SyntaxError"),
        ("import numpy", "No module named 'numpy'"),
        ("STATE = {'a': {1}}", "not JSON serializable"),
        ("TOOLS = {'a': lambda state: 1}\nraise KeyError('A-1')", "KeyError: 'A-1'"),
    ],
)
def test_code_that_cannot_be_loaded_says_why(trusted, code, said):
    with pytest.raises(WorldDiedError, match="cannot be loaded") as caught:
        tools_of_code({"simulator.py": code}, trusted=trusted)
    assert said in str(caught.value)


def test_without_bubblewrap_code_runs_only_where_it_is_trusted(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoSandboxError, match="apt-get install bubblewrap"):
        tools_of_code(FILES)
    assert "price" in tools_of_code(FILES, trusted=True)


def test_a_final_state_shares_with_the_initial_one_what_the_tools_left_alone():
    code = """
STATE = {"orders": {"A": {"n": 1}, "B": {"n": 1}}, "users": {"u": {}}}

def write(state, order, n):
    state["orders"][order]["n"] = n

def spoil(state):
    state["orders"]["A"]["n"] = {1, 2}

def breach(state):
    dict.__getitem__(state, "users").clear()
"""
    with CodeSimulator({"simulator.py": code}, trusted=True) as simulator:
        with simulator.world({}) as world:
            initial = world.state()
            world.call(call("write", order="A", n=2))
            final = world.state()
        assert initial is not None
        assert final is not None
        assert final["orders"] == {"A": {"n": 2}, "B": {"n": 1}}
        assert final["users"] is initial["users"]
        assert final["orders"]["B"] is initial["orders"]["B"]
        for tool, said in (("spoil", "a set"), ("breach", "all worlds begin with")):
            with simulator.world({}) as world:
                world.call(call(tool))
                with pytest.raises(CodeBrokenError, match=said):
                    world.state()
        with simulator.world({}) as world:
            assert world.state() == initial
