"""Say in a sentence what was done: who, the act, and what it was done to, with a link where there is a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.urls import reverse

from toolevals.workspace.models import AuditEntry, Project

# What is named by the sentence already, or helps a program alone.
_UNTOLD: Final = frozenset({"revision", "gold", "slug", "name", "number", "job"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One act: the entry, the words of the act, what it was done to, its address if it has a page, and details."""

    entry: AuditEntry
    act: str
    thing: str
    url: str
    detail: tuple[tuple[str, Any], ...]


def act_words(verb: str) -> str:
    """Return an act in the past tense, as it stands between who did it and what it was done to."""
    known = settings.AUDIT_PHRASES.get(verb)
    if known:
        return str(known)
    last = verb.rpartition("_")[2]
    return str(settings.AUDIT_PAST.get(last, f"{last}d" if last.endswith("e") else f"{last}ed"))


def sentences(entries: Sequence[AuditEntry], project: Project) -> list[Sentence]:
    """Return the sentences of acts in a project; each kind of thing is read once."""
    ids: dict[str, set[UUID]] = defaultdict(set)
    for entry in entries:
        ids[entry.target_type].add(entry.target_id)
    known = {pk: said for kind, pks in ids.items() for pk, said in _named(kind, pks, project).items()}
    return [_sentence(entry, known) for entry in entries]


def _sentence(entry: AuditEntry, known: Mapping[UUID, tuple[str, str]]) -> Sentence:
    found = settings.AUDIT_THINGS.get(entry.target_type)
    noun = found.noun if found else entry.verb.rpartition("_")[0].replace("_", " ") or "something"
    title, url = known.get(entry.target_id, (str(entry.shown_detail.get("name", "")), ""))
    thing = title if noun == "example" and title else f"{noun} {title}".strip()
    detail = tuple((name, value) for name, value in entry.shown_detail.items() if name not in _UNTOLD and value)
    return Sentence(entry, act_words(entry.verb), thing, url, detail)


def _named(kind: str, pks: set[UUID], project: Project) -> dict[UUID, tuple[str, str]]:
    """Return the titles and addresses of things of one kind that are still there."""
    thing = settings.AUDIT_THINGS.get(kind)
    if thing is None or not thing.title:
        return {}
    model: Any = apps.get_model(kind)
    rows = model._default_manager.filter(pk__in=pks).values_list("pk", thing.title, *thing.fields)
    return {
        pk: (str(title), reverse(thing.to, args=[project.slug, *fields]) if thing.to else "")
        for pk, title, *fields in rows
    }
