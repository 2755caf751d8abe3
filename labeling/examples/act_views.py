"""Ask what is to be done to the examples that someone selected in a list, do it, and take it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from labeling.batches.forms import PersonChoice, reviewers_of
from labeling.batches.services import (
    Change,
    Choice,
    Kept,
    batch_create,
    batch_discard,
    places_locked,
    slots_assign,
    slots_restore,
    slots_unassign,
)
from labeling.errors import InvalidAct
from labeling.examples.acts import (
    MOST,
    Done,
    examples_reopen,
    examples_resume,
    examples_set_aside,
    examples_tag,
    examples_untag,
)
from labeling.examples.listing import asked_of, query_of
from labeling.examples.rows import example_rows
from labeling.models import Dataset, Example, LabelAnswer, LabelBatch
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import ProjectRequest

NAMED = 5
# Where the session keeps what takes the last act back.
LAST = "examples_act"


class ReasonForm(PlainForm):
    """The reason for which examples are labelled again."""

    reason = forms.CharField(max_length=2000, help_text="Who labels them again reads it once they are decided.")


class SetAsideForm(PlainForm):
    """The reason for which examples get no gold."""

    answer = forms.ChoiceField(
        choices=[choice for choice in LabelAnswer.choices if choice[0] != LabelAnswer.EXPECTATION], label="Because"
    )
    rationale = forms.CharField(max_length=2000, label="Reason", help_text="Everyone who labelled them reads it.")


class AssignForm(PlainForm):
    """The person for whom examples are kept."""

    person = PersonChoice(queryset=User.objects.none(), required=False, empty_label="no one: the first who comes")
    due_on = forms.DateField(required=False, label="Due", widget=forms.DateInput(attrs={"type": "date"}))


class BatchForm(PlainForm):
    """A new batch's name."""

    name = forms.CharField(max_length=120)


class TagForm(PlainForm):
    """A stratum and the value that examples get."""

    stratum = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in Example.STRATA])
    value = forms.CharField(required=False, max_length=60, help_text="Leave empty to remove the value.")

    def clean(self) -> dict[str, Any] | None:
        """Refuse a value that is longer than its stratum's may be."""
        said = super().clean()
        if said and "stratum" in said and "value" in said:
            limit = getattr(Example._meta.get_field(said["stratum"]), "max_length", 0)
            if len(said["value"]) > limit:
                self.add_error("value", f"At most {limit} characters.")
        return said


class Said(NamedTuple):
    """Says what was done, and holds, as JSON, what takes it back; nothing where that cannot be done exactly."""

    words: str
    kept: Any = None


@dataclass(frozen=True, slots=True)
class Act:
    """One act: its title on buttons, the sentence of what it does, its form, what does it, and what takes it back.

    `do` takes the request, the dataset, the examples and the form's values. `undo` takes what was kept then, leaves
    what has changed since, and says what it has done.
    """

    title: str
    words: str
    form: type[PlainForm]
    do: Callable[[ProjectRequest, Dataset, list[Example], dict[str, Any]], Said]
    undo: Callable[[ProjectRequest, Dataset, Any], str] | None = None


@transaction.atomic
def _assign(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> Said:
    choice, person = Choice(names=[each.external_id for each in examples]), said["person"]
    before = places_locked(dataset, choice.names)
    if person is None:
        free = slots_unassign(dataset=dataset, actor=request.user, choice=choice)
        words = f"{_places(free)} kept for no one any more."
    else:
        kept = slots_assign(dataset=dataset, actor=request.user, person=person, choice=choice, due_on=said["due_on"])
        words = f"Kept for {person.name}: {kept:,} of {len(examples):,}."
        words += "" if kept == len(examples) else " The others have no place that is free for them."
    after = places_locked(dataset, choice.names)
    return Said(words, {pk: (kept, after[pk]) for pk, kept in before.items() if kept != after[pk]})


def _unassign(request: ProjectRequest, dataset: Dataset, kept: Any) -> str:
    changes = {pk: Change(Kept(*before), Kept(*after)) for pk, (before, after) in kept.items()}
    return _left(slots_restore(dataset=dataset, actor=request.user, changes=changes), len(kept), "place")


def _batch(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> Said:
    choice = Choice(names=[each.external_id for each in examples])
    made = batch_create(dataset=dataset, actor=request.user, name=said["name"], choice=choice)
    words = f"The batch “{made.name}” is made. You find it under Queue, where it can be closed again."
    return Said(words, str(made.pk))


def _unbatch(request: ProjectRequest, dataset: Dataset, kept: Any) -> str:
    batch = get_object_or_404(LabelBatch.objects.filter(dataset=dataset), pk=kept)
    batch_discard(batch=batch, actor=request.user)
    return f"Undone: there is no batch “{batch.name}” any more."


def _reopen(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> Said:
    done = examples_reopen(examples=examples, actor=request.user, reason=said["reason"])
    return Said(_words(done, "re-queued", "To undo, restore the earlier gold on the page of each example."))


def _set_aside(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> Said:
    done = examples_set_aside(examples=examples, actor=request.user, **said)
    # As one decision alone: who labelled them reads it then.
    seconds = request.project.undo_seconds
    words = _words(done, "set aside", "Re-queue them to have them labelled again.")
    return Said(f"{words} Undo works for {seconds} seconds.", done.changed) if seconds and done.count else Said(words)


def _resume(request: ProjectRequest, dataset: Dataset, kept: Any) -> str:
    examples = Example.objects.of_dataset(dataset).filter(pk__in=kept)
    done = examples_resume(examples=examples, actor=request.user, decisions=kept)
    return _words(done, "as before", "")


def _tag(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> Said:
    done = examples_tag(examples=examples, actor=request.user, **said)
    what = f"{said['stratum'].replace('_', ' ')} “{said['value']}”" if said["value"] else f"no {said['stratum']}"
    same = len(examples) - done.count
    words = f"{done.count:,} of {len(examples):,} examples changed: {what}."
    words = f"{words} {same:,} had it already." if same else words
    return Said(words, done.changed and {**said, "before": done.changed})


def _untag(request: ProjectRequest, dataset: Dataset, kept: Any) -> str:
    return _left(examples_untag(actor=request.user, **kept).count, len(kept["before"]), "example")


ACTS = {
    "assign": Act(
        "Assign", "Keep a free place of each for one person, or for no one any more.", AssignForm, _assign, _unassign
    ),
    "reopen": Act("Re-queue", "Start another round of labels. Their current gold is suspended.", ReasonForm, _reopen),
    "set-aside": Act(
        "Set aside", "Decide that there is no gold, where labels wait to be decided.", SetAsideForm, _set_aside, _resume
    ),
    "tag": Act(
        "Set a stratum", "Set a value by which lists, quotas and new gradings are divided.", TagForm, _tag, _untag
    ),
    "batch": Act(
        "Make a batch", "Make a batch of those that want labels and are in no other.", BatchForm, _batch, _unbatch
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
def examples_act(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show which examples an act is for, with its form; by POST, do it and go back to the list."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=dataset)
    data = request.POST if request.method == "POST" else request.GET
    back = _back(request, dataset_row, data)
    act, examples = ACTS.get(data.get("act", "")), _selected(dataset_row, data.getlist("example"))
    if act is None or not examples or len(examples) > MOST:
        messages.error(request, f"Select 1 to {MOST} examples of the list, then choose what to do with them.")
        return redirect(back)
    form = _form(act, request)
    if request.method == "POST" and form.is_valid():
        try:
            said = act.do(request, dataset_row, examples, form.cleaned_data)
            messages.info(request, said.words, extra_tags=_kept(request, dataset_row, data, said))
            return redirect(back)
        except InvalidAct as error:
            form.add_error(None, str(error))
        except ValidationError as error:
            form.add_error(None, error.messages)
        except InvalidDocument as error:
            form.add_error(None, [str(problem) for problem in error.problems])
    context = {
        "dataset": dataset_row,
        "here": "examples",
        "act": act,
        "name": data["act"],
        "form": form,
        "rows": example_rows(examples),
        "query": query_of(asked_of(QueryDict(data.get("query", "")))),
        "back": back,
    }
    return render(request, "labeling/examples_act.html", context, status=422 if form.errors else 200)


@require_POST
def examples_undo(request: ProjectRequest, dataset: str, act: UUID) -> HttpResponse:
    """Take the last act of this session back, as far as nothing has changed since."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=dataset)
    last = request.session.get(LAST) or {}
    undo = ACTS[last["act"]].undo if last.get("pk") == str(act) and last["dataset"] == str(dataset_row.pk) else None
    if undo is None:
        messages.error(request, "Nothing is undone: that act is undone already, or another came after it.")
        return redirect(_back(request, dataset_row, request.POST))
    del request.session[LAST]
    try:
        messages.info(request, undo(request, dataset_row, last["kept"]))
    except InvalidAct as error:
        messages.error(request, str(error))
    return redirect(last["back"])


def _kept(request: ProjectRequest, dataset: Dataset, data: QueryDict, said: Said) -> str:
    """Keep what takes an act back in the session, in place of that of an earlier one; return the address that does."""
    request.session.pop(LAST, None)
    if not said.kept:
        return ""
    pk = str(uuid4())
    last = {"pk": pk, "dataset": str(dataset.pk), "act": data["act"], "kept": said.kept}
    request.session[LAST] = last | {"back": _back(request, dataset, data)}
    return reverse("labeling:examples-undo", args=[request.project.slug, dataset.slug, pk])


def _form(act: Act, request: ProjectRequest) -> PlainForm:
    form = act.form(request.POST if request.method == "POST" else None)
    if isinstance(form, AssignForm):
        person = form.fields["person"]
        assert isinstance(person, PersonChoice)
        person.queryset = reviewers_of(request.project)
    return form


def _selected(dataset: Dataset, names: list[str]) -> list[Example]:
    """Return the dataset's examples of these ids; what is no id of one counts as none."""
    pks = set()
    for name in names[: MOST + 1]:
        try:
            pks.add(UUID(name))
        except ValueError:
            continue
    return list(Example.objects.of_dataset(dataset).with_content().filter(pk__in=pks).order_by("external_id"))


def _back(request: ProjectRequest, dataset: Dataset, data: QueryDict) -> str:
    query = query_of(asked_of(QueryDict(data.get("query", ""))))
    return f"{reverse('labeling:dataset', args=[request.project.slug, dataset.slug])}{'?' if query else ''}{query}"


def _places(count: int) -> str:
    return f"{count:,} place{' is' if count == 1 else 's are'}"


def _left(count: int, total: int, what: str) -> str:
    """Say how many of so many were taken back."""
    many = f"{count:,} of {total:,} {what}{'' if total == 1 else 's'} {'is' if count == 1 else 'are'} as before."
    return many if count == total else f"{many} The others have changed since, and are left."


def _words(done: Done, what: str, undo: str) -> str:
    total = done.count + len(done.refused)
    words = (
        f"{done.count:,} of {total:,} example{'' if total == 1 else 's'} {'is' if done.count == 1 else 'are'} {what}."
    )
    words += f" {undo}" if done.count and undo else ""
    for name, why in done.refused[:NAMED]:
        words += f" {name}: {why}"
    more = len(done.refused) - NAMED
    return f"{words} {more:,} more were passed over." if more > 0 else words
