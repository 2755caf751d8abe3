"""Open the simulators behind the tools of a run, or of a dataset's next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

from django.conf import settings

from labeling.models import Dataset
from toolevals.agents import worlds
from toolevals.agents.code import CodeSimulator, NoSandboxError
from toolevals.agents.http_simulator import HttpOptions, HttpSimulator
from toolevals.agents.network import AddressPolicy
from toolevals.agents.options import McpOptions
from toolevals.agents.replay import Executions
from toolevals.agents.scripted import ScriptedSimulator, Simulation
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.layers.execution import Effect
from toolevals.grading.values import Transcript
from toolevals.json_types import JsonMapping
from toolevals.registry.mcp_servers import mcp_access
from toolevals.runs.models import Run, Simulator, SimulatorKind
from toolevals.runs.simulators.contents import is_trusted, limits
from toolevals.workspace.secrets.services import SecretUnusableError, secret_for


@contextmanager
def simulator_of(whose: Run | Dataset) -> Iterator[worlds.Simulator]:
    """Yield what answers the calls of a run's examples: their own results first, then the simulator.

    That is the one that a live run began with, else the dataset's. Where there is none, and an example has no results
    either, its world answers no call and has no state. Leaving ends its processes. Raises NoSandboxError
    and SecretUnusableError, and InvalidDocument where an MCP server may no longer be asked.
    """
    with simulator_opened(_row(whose)) as simulator:
        yield simulator


@contextmanager
def simulator_opened(
    row: Simulator | None, waiting: Callable[[str], None] = lambda _: None
) -> Iterator[worlds.Simulator]:
    """Yield a simulator as `simulator_of` does, of this row. Raises as it does.

    `waiting` is told in a sentence when a service is waited for, and by an empty one when it is not any more.
    """
    if row is None:
        yield ScriptedSimulator()
    elif row.kind == SimulatorKind.SCRIPTED:
        yield ScriptedSimulator(Simulation.from_document({"results": row.content["results"]}).results)
    elif row.kind == SimulatorKind.HTTP:
        with _service(row, waiting) as service:
            yield ScriptedSimulator(behind=service)
    elif row.kind == SimulatorKind.MCP:
        yield ScriptedSimulator(behind=_mcp(row))
    else:
        files = row.content["files"]
        with CodeSimulator(files, limits=limits(), trusted=is_trusted(files)) as code:
            yield ScriptedSimulator(behind=code)


def _service(row: Simulator, waiting: Callable[[str], None]) -> HttpSimulator:
    options = HttpOptions.from_document(row.content)
    key = secret_for(project=row.project, name=options.secret, address=options.address) if options.secret else ""
    return HttpSimulator(options, key=key, policy=AddressPolicy.of(settings.AGENT_NETWORKS), waiting=waiting)


def _mcp(row: Simulator) -> worlds.Simulator:
    # Loading the client takes seconds, which most web processes never need.
    from toolevals.agents.mcp_client import McpSimulator

    options = McpOptions.from_document(row.content)
    return McpSimulator(options, **mcp_access(row.project, options))


def _row(whose: Run | Dataset) -> Simulator | None:
    if isinstance(whose, Dataset):
        return Simulator.objects.of_dataset(whose)
    return whose.simulator or Simulator.objects.of_dataset(whose.dataset_version.dataset)


# What tells no state: no call is made again, of a server least of all, whose calls may change what is real.
STATELESS = (SimulatorKind.SCRIPTED, SimulatorKind.MCP)


class Effects:
    """Effects by revision: those that a simulator's worlds show, one that says why there are none, or nothing."""

    def __init__(self, executions: Executions | None = None, instead: Effect | None = None) -> None:
        self._executions = executions
        self._instead = instead

    def of(
        self, revision: UUID, shown: JsonMapping, compiled: CompiledCase, transcript: Transcript | None
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
