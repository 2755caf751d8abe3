"""Turn names after an `@` into ids for keeping, and ids into the names that their people have now."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from uuid import UUID

from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import Project, User

_KEPT: Final = re.compile(r"@\{([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}")


def names_offered(project: Project) -> dict[str, User]:
    """Return the members who can sign in by the names to write; of two of one name, with their mailboxes."""
    people = list(project.members.filter(is_active=True).order_by("name", "pk"))
    alike = Counter(person.name.casefold() for person in people)
    return {
        f"{person.name} ({person.mailbox})" if alike[person.name.casefold()] > 1 else person.name: person
        for person in people
    }


def names_bound(project: Project, text: str) -> tuple[str, list[User]]:
    """Return a text with the id of each member whose name follows an `@`, and these members.

    Any other `@` stays as it is. Raises InvalidDocument for a name that several members have.
    """
    # What looks like a kept id was typed: it is no one's.
    text = text.replace("@{", "@ {")
    if "@" not in text:
        return text, []
    offered = {name.casefold(): person for name, person in names_offered(project).items()}
    several = {person.name.casefold() for name, person in offered.items() if name != person.name.casefold()}
    if not offered:
        return text, []
    longest_first = sorted({*offered, *several}, key=len, reverse=True)
    written = re.compile(rf"(?<!\w)@({'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)
    found: dict[UUID, User] = {}

    def bound(match: re.Match[str]) -> str:
        person = offered.get(match[1].casefold())
        if person is None:
            raise InvalidDocument.at("/text", f"names several members: choose one of those called {match[1]}")
        found[person.pk] = person
        return f"@{{{person.pk}}}"

    return written.sub(bound, text), list(found.values())


def text_named(text: str) -> str:
    """Return a kept text with the names that the mentioned people have now."""
    ids = {UUID(each) for each in _KEPT.findall(text)}
    if not ids:
        return text
    names = dict(User.objects.filter(pk__in=ids).values_list("pk", "name"))
    return _KEPT.sub(lambda match: f"@{names.get(UUID(match[1]), 'a former member')}", text)
