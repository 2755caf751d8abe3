"""Run one conversation of a live run: bring together the agent, the example's simulated tools and its user.

All workers of a run share one rate: a row holds when the next request may be made.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings as installation
from django.db import DatabaseError, InterfaceError, connection, transaction

from toolevals.agents.chats import Chat, NoRateLimit, RetryPolicy, safe
from toolevals.agents.code import NoSandboxError
from toolevals.agents.connectors import CONNECTORS, Agent, ConnectorOptions, Opening
from toolevals.agents.loop import (
    Conversation,
    End,
    Limits,
    NoSimulatedUser,
    ScriptedUser,
    SimulatedUser,
    Task,
    User,
    converse,
)
from toolevals.agents.network import AddressPolicy
from toolevals.agents.scripted import FaultyWorld, Simulation
from toolevals.agents.worlds import Simulator, World, WorldDiedError
from toolevals.grading.values import Transcript
from toolevals.grading.values.documents import require_json
from toolevals.registry.policies.offered import PolicyGuards
from toolevals.runs.live.guards import guard_of_run
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Run, RunPace
from toolevals.runs.simulators.opening import simulator_of
from toolevals.workspace.clock import database_now
from toolevals.workspace.secrets.services import SecretUnusableError, secret_for

logger = logging.getLogger(__name__)

NOBODY_PLAYS = "The example has a simulated user, and the run names no model that plays it."
# How a model that plays users is asked.
PLAYER = "openai"


class SharedPace:
    """Spaces out the requests of everyone who works on a run, evenly over each minute."""

    def __init__(self, run_id: UUID, requests_per_minute: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self._run_id = run_id
        self._apart = timedelta(minutes=1) / requests_per_minute
        self._sleep = sleep

    def wait(self) -> None:
        """Return when the next request may be made."""
        seconds = (self._turn() - database_now()).total_seconds()
        # Whoever waits holds no connection that others could use.
        if not connection.in_atomic_block:
            connection.close()
        if seconds > 0:
            self._sleep(seconds)

    @transaction.atomic
    def _turn(self) -> datetime:
        RunPace.objects.get_or_create(run_id=self._run_id, defaults={"next_at": database_now()})
        pace = RunPace.objects.select_for_update().get(run_id=self._run_id)
        turn = max(pace.next_at, database_now())
        pace.next_at = turn + self._apart
        pace.save(update_fields=["next_at"])
        return turn


@dataclass(frozen=True, slots=True)
class Stage:
    """The shared parts of a batch's conversations: clients, simulator, players of users. Safe in several threads."""

    agent: Agent
    player: Agent | None
    simulator: Simulator
    limits: Limits
    guard: PolicyGuards | None = None

    def talk(self, task: Task) -> Conversation:
        """Let the agent do a task in a fresh world. What no one foresaw errs this task alone.

        Raises what is no one task's: the database's errors, a sandbox or a secret that cannot be had.
        """
        try:
            talk = self._talk(task)
            require_json(talk.transcript.to_document())
        except (DatabaseError, InterfaceError, NoSandboxError, SecretUnusableError):
            raise
        except Exception as error:
            logger.exception("A conversation stopped.")
            said = safe(f"The conversation stopped ({type(error).__name__}): {error}")
            return Conversation(Transcript(error=said), End.UNREACHABLE)
        return talk

    def _talk(self, task: Task) -> Conversation:
        simulation = Simulation.of_example(task.example)
        if simulation.instruction and self.player is None:
            return Conversation(Transcript(error=NOBODY_PLAYS), End.UNREACHABLE)
        try:
            with self._world(task, simulation) as world:
                user = _user(simulation, self.player and self.player(task))
                guard = self.guard.conversation(task.tools) if self.guard else None
                return converse(self.agent(task), task, world=world, user=user, limits=self.limits, guard=guard)
        except WorldDiedError as error:
            return Conversation(Transcript(error=str(error)), End.UNREACHABLE)

    @contextmanager
    def _world(self, task: Task, simulation: Simulation) -> Iterator[World]:
        with self.simulator.world(task.example) as world:
            yield FaultyWorld(world, simulation.faults) if simulation.faults else world


@contextmanager
def stage(run: Run, settings: LiveSettings) -> Iterator[Stage]:
    """Open everything that a run's conversations need.

    Raises SecretUnusableError, NoSandboxError, and InvalidDocument where the policy is no longer there.
    """
    pace = SharedPace(run.pk, settings.requests_per_minute) if settings.requests_per_minute else NoRateLimit()
    retry = RetryPolicy(tries=settings.tries)
    policy = AddressPolicy.of(installation.AGENT_NETWORKS)

    def opening(options: ConnectorOptions) -> Opening:
        key = secret_for(project=run.project, name=options.secret, address=options.address) if options.secret else ""
        return Opening(policy, key, str(run.pk), retry, pace)

    connector = CONNECTORS[run.agent.connector]
    options = connector.reader(run.agent.options)
    with ExitStack() as opened:
        agent = opened.enter_context(connector.open(options, opening(options)))
        player = None
        if settings.user:
            player = opened.enter_context(CONNECTORS[PLAYER].open(settings.user, opening(settings.user)))
        simulator = opened.enter_context(simulator_of(run))
        guard = guard_of_run(run, settings.guard) if settings.guard else None
        yield Stage(agent, player, simulator, Limits(steps=settings.max_steps), guard)


def _user(simulation: Simulation, player: Chat | None) -> User:
    if simulation.instruction and player is not None:
        return SimulatedUser(player, simulation.instruction)
    return ScriptedUser(simulation.turns) if simulation.turns else NoSimulatedUser()
