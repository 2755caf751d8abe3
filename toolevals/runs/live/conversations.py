"""One conversation of a live run: the subject, the example's simulated tools and its user brought together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.conf import settings as installation

from toolevals.agents.chat_options import ChatOptions
from toolevals.agents.chats import Chat
from toolevals.agents.faults import FaultyWorld
from toolevals.agents.loop import Conversation, End, Limits, Task, converse
from toolevals.agents.network import AddressPolicy
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.patience import Patience, PatientChat, Unhurried
from toolevals.agents.scripted import ScriptedSimulator
from toolevals.agents.simulations import Simulation
from toolevals.agents.users import NobodyThere, ScriptedUser, SimulatedUser, User
from toolevals.agents.worlds import Nothing, World
from toolevals.grading.values import Transcript
from toolevals.runs.live.pace import SharedPace
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Run
from toolevals.workspace.models import Project
from toolevals.workspace.services import secret_read

NOBODY_PLAYS = "The example has a simulated user, and the run names no model that plays it."


@dataclass(frozen=True, slots=True)
class Stage:
    """What the conversations of one batch share: clients, and whoever plays the users. Safe in several threads."""

    subject: Chat
    player: Chat | None
    limits: Limits

    def talk(self, task: Task) -> Conversation:
        """Let the subject do a task in a fresh world."""
        simulation = Simulation.of_example(task.example)
        if simulation.instruction and self.player is None:
            return Conversation(Transcript(error=NOBODY_PLAYS), End.UNREACHABLE)
        with _world(task, simulation) as world:
            user = _user(simulation, self.player)
            return converse(self.subject, task, world=world, user=user, limits=self.limits)


@contextmanager
def stage(run: Run, settings: LiveSettings) -> Iterator[Stage]:
    """Open everything that a run's conversations need. Raises SecretMissingError and SealBrokenError."""
    pace = SharedPace(run.pk, settings.requests_per_minute) if settings.requests_per_minute else Unhurried()
    patience = Patience(tries=settings.tries)
    with ExitStack() as opened:

        def chat(options: ChatOptions) -> Chat:
            return PatientChat(opened.enter_context(_model(options, run.project)), patience, pace)

        subject = chat(ChatOptions.from_document(run.subject.options))
        player = chat(settings.user) if settings.user else None
        yield Stage(subject, player, Limits(steps=settings.max_steps))


def _model(options: ChatOptions, project: Project) -> OpenAIChat:
    key = secret_read(project=project, name=options.secret) if options.secret else ""
    return OpenAIChat(options, key=key, policy=AddressPolicy.of(installation.AGENT_NETWORKS))


@contextmanager
def _world(task: Task, simulation: Simulation) -> Iterator[World]:
    if not simulation.results:
        yield FaultyWorld(Nothing(), simulation.faults) if simulation.faults else Nothing()
        return
    with ScriptedSimulator().world(task.example) as world:
        yield FaultyWorld(world, simulation.faults) if simulation.faults else world


def _user(simulation: Simulation, player: Chat | None) -> User:
    if simulation.instruction and player is not None:
        return SimulatedUser(player, simulation.instruction)
    return ScriptedUser(simulation.turns) if simulation.turns else NobodyThere()
