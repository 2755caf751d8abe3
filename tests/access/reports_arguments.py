"""Arguments of the addresses of reports: the graded run that the addresses of runs use."""

from __future__ import annotations

from tests.access.runs_arguments import a_case, a_graded_run, a_number
from tests.access.world import Argument, World
from toolevals.workspace.models import User


def an_experiment(world: World, person: User) -> str:
    return str(a_graded_run(world).experiment.slug)


ARGUMENTS: dict[str, Argument] = {"number": a_number, "case_id": a_case, "experiment": an_experiment}
