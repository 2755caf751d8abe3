"""Define the form that starts a run of an agent that is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms

from toolevals.agents.connectors import CONNECTORS, Connector
from toolevals.agents.options import TOOL_STYLES
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.policies.offered import policies_offered
from toolevals.runs.runs.forms import CUT_OFF_WORDS, RunForm
from toolevals.runs.runs.presets import PRESETS
from toolevals.runs.runs.requesting import RunRequest
from toolevals.workspace.models import Project

# Where an option has another name in the form, as a run has tools too.
RENAMED = {"tools": "tools_by"}
OPTIONS = (
    "base_url",
    "url",
    "secret",
    "temperature",
    "seed",
    "max_tokens",
    "system",
    "tools",
    "strict_tools",
    "stream",
    "timeout",
)
PRICES = ("input_price", "output_price", "cached_price")
USER = ("user_base_url", "user_model", "user_secret")
SETTINGS = ("concurrency", "requests_per_minute", "max_steps", "tries", "budget", "cut_off")
# What stands in the form at once; the rest is unfolded.
FIRST = (
    "experiment",
    "dataset_version",
    "name",
    "base_url",
    "url",
    "model",
    "secret",
    "trials",
    "preset",
    *PRICES[:2],
    "budget",
)
# Where a service names a problem otherwise than the form does.
FIELDS = {
    "/options/tools": "tools_by",
    "/settings/prices/input": "input_price",
    "/settings/prices/output": "output_price",
    "/settings/prices/cached": "cached_price",
    "/settings/user/base_url": "user_base_url",
    "/settings/user/model": "user_model",
    "/settings/user/secret": "user_secret",
}


class LiveForm(RunForm):
    """A run of an agent that is asked while the run lasts: the fields that its connector needs."""

    name = forms.CharField(max_length=120, label="Agent", help_text="Name of the agent.")
    base_url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
    )
    url = forms.URLField(label="Address", max_length=500, assume_scheme="https")
    model = forms.CharField(max_length=120, help_text="Exact model version, for example small-2026-01-01.")
    secret = forms.ChoiceField(required=False, label="Key")
    preset = forms.ChoiceField(
        choices=[("", "All examples"), *((preset.name, preset.words) for preset in PRESETS.values())],
        required=False,
        label="Examples",
        help_text="A preset selects a subset and sets the number of trials.",
    )
    prompt_version = forms.CharField(max_length=60, required=False, label="Prompt version")
    commit = forms.CharField(max_length=64, required=False, label="Git commit")
    system = forms.CharField(
        required=False,
        label="System prompt",
        help_text="Added at the start of every conversation.",
        widget=forms.Textarea({"rows": 4}),
    )
    temperature = forms.FloatField(min_value=0, max_value=2, required=False)
    seed = forms.IntegerField(required=False)
    max_tokens = forms.IntegerField(min_value=1, required=False, label="Max answer length", help_text="In tokens.")
    tools_by = forms.ChoiceField(
        choices=[(TOOL_STYLES[0], "natively"), (TOOL_STYLES[1], "as text, for models without native tools")],
        label="Tool format",
    )
    strict_tools = forms.BooleanField(
        required=False, label="Strict tools", help_text="Those whose schemas the provider's strict mode takes."
    )
    stream = forms.BooleanField(required=False, label="Stream answers")
    timeout = forms.FloatField(min_value=1, max_value=3600, initial=120, label="Timeout", help_text="Seconds.")
    concurrency = forms.IntegerField(
        min_value=1,
        max_value=32,
        initial=4,
        label="Concurrency",
        help_text="Conversations at the same time, per worker.",
    )
    requests_per_minute = forms.IntegerField(min_value=1, required=False, label="Requests per minute")
    max_steps = forms.IntegerField(min_value=1, max_value=200, initial=30, label="Max turns per conversation")
    cut_off = forms.ChoiceField(
        choices=CUT_OFF_WORDS, initial="failed", required=False, label="Conversations that are cut"
    )
    tries = forms.IntegerField(min_value=1, max_value=10, initial=5, label="Attempts per request")
    input_price = forms.FloatField(min_value=0, required=False, label="Price of input", help_text="Per million tokens.")
    output_price = forms.FloatField(
        min_value=0, required=False, label="Price of output", help_text="Per million tokens."
    )
    cached_price = forms.FloatField(min_value=0, required=False, label="Price of cached input")
    budget = forms.FloatField(
        min_value=0,
        required=False,
        help_text="Once this amount is spent, no further conversation starts. The remaining trials are unscored.",
    )
    user_base_url = forms.URLField(
        required=False,
        max_length=500,
        assume_scheme="https",
        label="Address of the simulated user",
        help_text="API address of the model that simulates users.",
    )
    user_model = forms.CharField(max_length=120, required=False, label="Model of the simulated user")
    user_secret = forms.ChoiceField(required=False, label="Key of the simulated user")
    guard = forms.ChoiceField(required=False, help_text="A policy that checks each call before it is made.")
    guard_key = forms.CharField(
        max_length=200, required=False, label="Key of the guard", help_text="Whose lists of the policy are met."
    )

    def __init__(self, project: Project, connector: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, **kwargs)
        self.connector = connector
        for name in OPTIONS:
            if name not in self.about.options:
                del self.fields[RENAMED.get(name, name)]
            elif self.about.options[name]:
                self.fields[RENAMED.get(name, name)].initial = self.about.options[name]
        self.fields["url" if "url" in self.fields else "base_url"].help_text = self.about.where
        self.fields["secret"].help_text = self.about.key
        self.fields["model"].required = self.about.asks_model
        names = project.secrets.values_list("name", flat=True)
        choices = [("", "No key"), *((name, name) for name in names)]
        for name in ("secret", "user_secret"):
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        guards = [(str(each), f"{each.policy.name}, version {each.number}") for each in policies_offered(project)]
        if guards and self.about.asks_model:
            self.fields["guard"].choices = [("", "None"), *guards]  # type: ignore[attr-defined]
        else:
            del self.fields["guard"], self.fields["guard_key"]

    @property
    def about(self) -> Connector:
        """The connector, as the table tells of it."""
        return CONNECTORS[self.connector]

    def first(self) -> Iterator[forms.BoundField]:
        """Yield the fields that stand in the form at once."""
        return (self[name] for name in FIRST if name in self.fields)

    def more(self) -> Iterator[forms.BoundField]:
        """Yield the others."""
        return (field for field in self if field.name not in FIRST)

    @property
    def is_more_wrong(self) -> bool:
        """Return whether an error stands among those that are folded."""
        return any(field.errors for field in self.more())

    def clean(self) -> None:
        data = self.cleaned_data
        if (data.get("input_price") is None) != (data.get("output_price") is None):
            self.add_error("output_price", "Enter both prices or neither.")

    def request(self) -> RunRequest:
        data = self.cleaned_data
        given = {name: data.get(RENAMED.get(name, name)) for name in OPTIONS}
        options = {
            name: value for name, value in given.items() if name in self.about.options and value not in ("", None)
        }
        return replace(super().request(), connector=self.connector, options=options, settings=self._settings())

    def add_problems(self, error: InvalidDocument) -> None:
        for problem in error.problems:
            name = FIELDS.get(problem.pointer) or problem.pointer.rpartition("/")[2]
            self.add_error(name if name in self.fields else None, problem.message)

    def _settings(self) -> dict[str, Any]:
        data = self.cleaned_data
        settings = {name: data[name] for name in SETTINGS if data[name] not in (None, "")}
        if data["input_price"] is not None:
            settings["prices"] = {name.removesuffix("_price"): data[name] for name in PRICES}
        if user := {name.removeprefix("user_"): data[name] for name in USER if data[name]}:
            settings["user"] = user
        if guard := data.get("guard"):
            policy, _, version = guard.rpartition("@")
            settings["guard"] = {"policy": policy, "version": int(version), "key": data["guard_key"]}
        return settings
