"""Change the tags and notes on cases."""

from __future__ import annotations

from django.db import transaction

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseNote, CaseTag, Transcript
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.mentions.names import names_bound
from toolevals.workspace.mentions.services import mentions_note
from toolevals.workspace.models import User

LONGEST_TAG = 40
LONGEST_NOTE = 4000
MOST_TAGS = 20


@transaction.atomic
def tag_add(*, transcript: Transcript, actor: User, tag: str) -> CaseTag:
    """Give a trial a tag, and return it; one that it has stays as it is. Raises InvalidDocument."""
    word = _text(tag, "tag", LONGEST_TAG)
    Transcript.objects.select_for_update(of=("self",)).only("pk").get(pk=transcript.pk)
    if transcript.tags.exclude(tag=word).count() >= MOST_TAGS:
        raise InvalidDocument.at("/tag", f"is one too many: a case has at most {MOST_TAGS}")
    found, made = CaseTag.objects.get_or_create(transcript=transcript, tag=word, defaults={"actor": actor})
    if made:
        _recorded(transcript, actor, "case_tag_add", found, {"tag": word})
    return found


@transaction.atomic
def tag_remove(*, transcript: Transcript, actor: User, tag: str) -> None:
    """Take a tag off a trial; one that it has not is no error."""
    row = CaseTag.objects.filter(transcript=transcript, tag=tag).first()
    if row is not None:
        _recorded(transcript, actor, "case_tag_remove", row, {"tag": tag})
        row.delete()


@transaction.atomic
def note_add(*, transcript: Transcript, actor: User, text: str) -> CaseNote:
    """Write a note on a trial, tell the members that it mentions, and return it. Raises InvalidDocument."""
    project = transcript.run.project
    said, mentioned = names_bound(project, _text(text, "text", LONGEST_NOTE))
    note = CaseNote.objects.create(transcript=transcript, actor=actor, text=said)
    mentions_note(project=project, actor=actor, people=mentioned, target=note)
    _recorded(transcript, actor, "case_note_add", note, {})
    return note


def _text(text: str, name: str, longest: int) -> str:
    said = text.strip() if name == "text" else " ".join(text.split())
    if not said or "\0" in said:
        raise InvalidDocument.at(f"/{name}", "must be some text")
    if len(said) > longest:
        raise InvalidDocument.at(f"/{name}", f"must have at most {longest} characters")
    return said


def _recorded(
    transcript: Transcript, actor: User, verb: str, target: CaseTag | CaseNote, detail: dict[str, str]
) -> None:
    detail = {"transcript": str(transcript.pk), **detail}
    audit_record(project=transcript.run.project, actor=actor, verb=verb, target=target, detail=detail)
