"""Tell what the calls of a run's transcripts did to their simulator's world, for grading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

from toolevals.agents.code import NoSandboxError
from toolevals.agents.replay import Executions
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Transcript
from toolevals.runs.models import Simulator, SimulatorKind
from toolevals.runs.simulating.opening import simulator_opened
from toolevals.workspace.services.secrets import SecretUnusableError

# What tells no state: no call is made again, of a server least of all, whose calls may change what is real.
STATELESS = (SimulatorKind.SCRIPTED, SimulatorKind.MCP)


class Effects:
    """Effects by revision: those that a simulator's worlds show, one that says why there are none, or nothing."""

    def __init__(self, executions: Executions | None = None, instead: Effect | None = None) -> None:
        self._executions = executions
        self._instead = instead

    def of(
        self, revision: UUID, shown: Mapping[str, Any], compiled: CompiledCase, transcript: Transcript | None
    ) -> Effect | None:
        """Return what the transcript's calls did; None where there is nothing to execute them.

        `revision` is the id of the example's revision, `shown` its input.
        """
        if transcript is None or transcript.error is not None or self._executions is None:
            return self._instead
        expectation, reads = compiled.expectation, compiled.offer.reads
        return self._executions.effect(revision, shown, expectation, transcript, reads)


@contextmanager
def effects_of(simulator: Simulator | None, waiting: Callable[[str], None]) -> Iterator[Effects]:
    """Yield where effects come from. Where no state is told, nothing is replayed. `waiting`: as `simulator_opened`.

    Where the simulator cannot be opened here, execution is unscored, with the reason.
    """
    if simulator is None or simulator.kind in STATELESS:
        yield Effects()
        return
    with ExitStack() as opened:
        try:
            effects = Effects(Executions(opened.enter_context(simulator_opened(simulator, waiting))))
        except (NoSandboxError, SecretUnusableError) as error:
            effects = Effects(instead=Effect(silent=str(error)))
        yield effects
