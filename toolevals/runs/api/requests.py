"""Show what programs send to start a run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import DatasetVersion
from labeling.versions.api import VersionNameField
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.registry.models import RegistryVersion
from toolevals.runs.models import Run
from toolevals.runs.runs.requesting import RunRequest
from toolevals.runs.runs.services import MAX_TRIALS
from toolevals.runs.scope.presets import PRESETS
from toolevals.workspace.models import Project, within


class RunRequestSerializer(serializers.Serializer[Any]):
    """The fields that every run needs. Needs the project in its context."""

    experiment = serializers.CharField(max_length=60, help_text="Its name; a new one is made.")
    dataset = serializers.CharField(
        max_length=130, help_text='Its short name; also with a version, as "core@3" or "core@release-3".'
    )
    version = VersionNameField(required=False, allow_null=True, help_text="By default the newest.")
    trials = serializers.IntegerField(min_value=1, max_value=MAX_TRIALS, default=1)
    registry = serializers.SlugField(
        max_length=60, required=False, help_text="Where the agent's own wording of the tools is kept."
    )
    registry_version = serializers.IntegerField(min_value=1, required=False, help_text="By default the newest.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        project: Project = self.context["project"]
        attrs["dataset_version"] = _version(project, attrs.pop("dataset"), attrs.pop("version", None))
        attrs["tools"] = _tools(project, attrs.pop("registry", ""), attrs.pop("registry_version", None))
        return attrs

    def request(self) -> RunRequest:
        """Return what is asked for; the data is valid."""
        return RunRequest(**self.validated_data)


class AskedRunSerializer(RunRequestSerializer):
    """A run whose agent answers while it lasts, perhaps over a few examples only."""

    failing_of = serializers.IntegerField(
        min_value=1, required=False, help_text="The number of a run: only the examples that failed in it are taken."
    )

    preset = serializers.ChoiceField(
        choices=[(preset.name, preset.words) for preset in PRESETS.values()],
        required=False,
        allow_blank=True,
        default="",
        help_text="A part of the version, chosen and tried as the preset says; `trials` does not count then.",
    )

    def validate_failing_of(self, number: int) -> Run:
        run: Run | None = Run.objects.filter(project=self.context["project"], number=number).first()
        if run is None:
            raise serializers.ValidationError("There is no such run in this project.")
        return run


class BaselineRunSerializer(AskedRunSerializer):
    """A run of the built-in baseline."""

    threshold = serializers.FloatField(min_value=0, max_value=1, required=False)

    def request(self) -> RunRequest:
        data = dict(self.validated_data)
        options = {"threshold": data.pop("threshold")} if "threshold" in data else {}
        return RunRequest(**data, options=options)


class PredictionsSerializer(RunRequestSerializer):
    """A run of uploaded predictions."""

    name = serializers.CharField(max_length=120)
    model = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    prompt_version = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    cut_off = serializers.ChoiceField(
        choices=CUT_OFF,
        default="failed",
        help_text="What becomes of conversations that were cut before their end: see `ended` of a prediction.",
    )
    file = serializers.FileField()

    def request(self) -> RunRequest:
        data = dict(self.validated_data)
        del data["file"]
        return RunRequest(**data)


class RegradeSerializer(serializers.Serializer[Any]):
    """The gold to grade against."""

    version = VersionNameField(
        required=False, allow_null=True, default=None, help_text="Of the run's dataset; by default the newest."
    )


def _version(project: Project, dataset: str, version: str | None) -> DatasetVersion:
    row = DatasetVersion.objects.named(project, f"{dataset}@{version}" if version else dataset)
    if row is None:
        which = "version" if version and DatasetVersion.objects.named(project, dataset) else "dataset"
        raise serializers.ValidationError({which: "There is no such frozen version of a dataset in this project."})
    return row


def _tools(project: Project, slug: str, number: int | None) -> RegistryVersion | None:
    if not slug:
        return None
    versions = RegistryVersion.objects.filter(within(project, "registry"), registry__slug=slug).order_by("-number")
    version = versions.filter(number=number).first() if number else versions.first()
    if version is None:
        raise serializers.ValidationError({"registry": "There is no such registry version in this project."})
    return version
