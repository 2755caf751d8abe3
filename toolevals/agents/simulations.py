"""Tell what an example says of its tools' answers, their faults and its user: the document of `simulation.v1.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from toolevals.grading.values import CallExpectation, call_expectation_from, require_earlier
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument


@dataclass(frozen=True, slots=True)
class ScriptedResult:
    """The result of one kind of call, `times` times or always (None)."""

    call: CallExpectation
    content: Any
    is_error: bool = False
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A tool's calls from the `nth` (from 1) on fail, `times` of them in succession; None: it never recovers."""

    tool: str
    fault: str
    nth: int = 1
    times: int | None = 1
    retry_after: float | None = None
    message: str = ""

    def strikes(self, number: int) -> bool:
        """Tell whether the tool's call of this number (from 1) fails."""
        return number >= self.nth and (self.times is None or number < self.nth + self.times)


@dataclass(frozen=True, slots=True)
class Simulation:
    """Scripted results, faults, the user's turns or instruction, and the state that the world begins with."""

    results: tuple[ScriptedResult, ...] = ()
    faults: tuple[Fault, ...] = ()
    turns: tuple[str, ...] = ()
    instruction: str = ""
    state: Mapping[str, Any] | None = None

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read the document. Raises InvalidDocument."""
        require_valid(document, "simulation")
        user = document.get("user", {})
        return cls(
            results=tuple(
                _result(result, f"/results/{place}") for place, result in enumerate(document.get("results", ()))
            ),
            faults=tuple(Fault(**fault) for fault in document.get("faults", ())),
            turns=tuple(user.get("turns", ())),
            instruction=user.get("instruction", ""),
            state=document.get("state"),
        )

    @classmethod
    def of_example(cls, example: Mapping[str, Any]) -> Self:
        """Read the `simulation` of an example's input, empty where it has none. Raises InvalidDocument."""
        try:
            return cls.from_document(example.get("simulation", {}))
        except InvalidDocument as error:
            raise error.below("/input/simulation") from None


def _result(document: dict[str, Any], pointer: str) -> ScriptedResult:
    call = call_expectation_from(
        {key: document[key] for key in ("tool", "arguments", "additional_arguments") if key in document}, pointer
    )
    # It answers single calls, and knows of no other.
    require_earlier(call, 1, pointer)
    is_error = "error" in document
    content = document["error"] if is_error else document["result"]
    return ScriptedResult(call, content, is_error, document.get("times"))
