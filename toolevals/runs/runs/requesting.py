"""Start a run from one form, all of it or nothing, for people and programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings as installation
from django.core.files import File
from django.db import transaction
from django.utils.text import slugify

from labeling.models import DatasetVersion
from toolevals.agents.connectors import DEFAULT, ConnectorOptions, connector_named
from toolevals.agents.network import AddressPolicy, ForbiddenAddressError
from toolevals.grading.engine.grading import CutOff
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.registry.models import RegistryVersion
from toolevals.runs.agents.services import agent_ensure, experiment_ensure, require_secret
from toolevals.runs.baseline import NAME as BASELINE
from toolevals.runs.live.guards import require_guard
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Connector, Run
from toolevals.runs.runs.presets import PRESETS
from toolevals.runs.runs.services import RunParts, run_converse, run_start, run_upload
from toolevals.workspace.models import Project, User
from toolevals.workspace.uploads.services import stored_together, upload_store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Holds what a run is made of. `experiment` is the name of one, there already or new; `options` are the agent's.

    `connector` and `settings` are those of a live run, `cut_off` of uploaded predictions: what becomes of conversations
    that were cut before their end. With `failing_of`, only the examples that failed in that run;
    with a preset those that it chooses, as often as it says.
    """

    experiment: str
    dataset_version: DatasetVersion
    trials: int = 1
    name: str = ""
    model: str = ""
    prompt_version: str = ""
    commit: str = ""
    tools: RegistryVersion | None = None
    connector: str = DEFAULT
    options: JsonMapping = field(default_factory=dict)
    settings: JsonMapping = field(default_factory=dict)
    failing_of: Run | None = None
    preset: str = ""
    cut_off: CutOff = "failed"

    @property
    def conversations(self) -> int:
        """Return how many trials there will be, of all examples together; of failing ones at most."""
        preset = PRESETS.get(self.preset)
        size = self.dataset_version.size
        return min(preset.examples, size) * preset.trials if preset else size * self.trials


def run_request_baseline(*, project: Project, actor: User | None, request: RunRequest) -> Run:
    """Start a run of the baseline. Raises InvalidDocument."""
    with transaction.atomic():
        return run_start(_parts(project, actor, replace(request, name=BASELINE), Connector.BASELINE))


def run_request_live(*, project: Project, actor: User | None, request: RunRequest) -> Run:
    """Start a run of an agent that is asked while it lasts. Raises InvalidDocument."""
    options, settings = live_request_read(request)
    require_secret(project, actor, options, "/options/secret")
    require_secret(project, actor, settings.user, "/settings/user/secret")
    require_guard(project, request.connector, settings.guard)
    _require_permitted(options, "/options")
    _require_permitted(settings.user, "/settings/user")
    with transaction.atomic():
        return run_converse(_parts(project, actor, request, Connector(request.connector)), settings=settings)


def _require_permitted(options: ConnectorOptions | None, pointer: str) -> None:
    """Raise InvalidDocument where the operator does not let this installation call the address.

    Names are looked up when the run asks: a request waits for no one.
    """
    if options is None or not (host := urlsplit(options.address).hostname):
        return
    try:
        AddressPolicy.of(installation.AGENT_NETWORKS).require_plain(host)
    except ForbiddenAddressError as error:
        raise InvalidDocument.at(pointer, str(error)) from None


def run_request_upload(
    *, project: Project, actor: User | None, request: RunRequest, file: File[Any] | IO[bytes], file_name: str
) -> Run:
    """Keep a file of predictions and start a run that reads it. Raises InvalidDocument."""
    with stored_together():
        upload = upload_store(project=project, actor=actor, file=file, name=file_name)
        return run_upload(_parts(project, actor, request, Connector.UPLOAD), upload=upload, cut_off=request.cut_off)


def _parts(project: Project, actor: User | None, request: RunRequest, connector: Connector) -> RunParts:
    """Return what every run is made of, its experiment and agent made if they are new."""
    agent = agent_ensure(
        project=project,
        actor=actor,
        name=request.name,
        connector=connector,
        model=request.model,
        prompt_version=request.prompt_version,
        commit=request.commit,
        tools=request.tools,
        options=request.options,
    )
    return RunParts(
        project=project,
        actor=actor,
        experiment=experiment_ensure(project=project, actor=actor, **_experiment(request)),
        agent=agent,
        dataset_version=request.dataset_version,
        trials=request.trials,
        failing_of=request.failing_of,
        preset=PRESETS.get(request.preset),
    )


def _experiment(request: RunRequest) -> dict[str, str]:
    slug = slugify(request.experiment)[:60].strip("-")
    if not slug:
        raise InvalidDocument.at("/experiment", "must hold a letter or a digit")
    return {"slug": slug, "name": request.experiment}


def live_request_read(request: RunRequest) -> tuple[ConnectorOptions, LiveSettings]:
    """Return how the agent is asked and how the run goes about it. Raises InvalidDocument."""
    connector = _below("/connector", lambda: connector_named(request.connector))
    options = _below("/options", lambda: connector.read(request.options, request.model.strip()))
    return options, _below("/settings", lambda: LiveSettings.from_document(request.settings))


def _below(prefix: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except InvalidDocument as error:
        raise error.below(prefix) from None
