"""Say in SQL who may label an example: of every slot of the queue it is asked, and Django builds as much for long."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, F, Func, OuterRef, UUIDField, Value

from toolevals.workspace.models import User

# One look at each slot's own few: with EXISTS, PostgreSQL would hold each slot against all that this person labelled,
# and plan joins of all these tables for longer than it looks.
TEXT = """(
(SELECT own.id FROM labeling_labelslot own
 WHERE own.revision_id = {revision} AND own.round = {round} AND own.reviewer_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_skip passed
 WHERE passed.revision_id = {revision} AND passed.reviewer_id = {person} AND passed.undone_at IS NULL LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_adjudication decided
 WHERE decided.revision_id = {revision} AND decided.adjudicator_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_gold restored
 WHERE restored.revision_id = {revision} AND restored.actor_id = {person}
 AND restored.source IN ('restored', 'second_look') LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_questionview seen
 WHERE seen.revision_id = {revision} AND seen.user_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_secondlook looked
 WHERE looked.revision_id = {revision} AND looked.reviewer_id = {person} LIMIT 1) IS NULL
AND (SELECT 1 FROM labeling_comment advised
 WHERE advised.revision_id = {revision} AND advised.author_id = {person}
 AND (advised.asker_id IS NULL OR advised.asker_id <> {person}) LIMIT 1) IS NULL
)"""
# The names of the expressions in the order of their places in the text.
PLACES = [part.partition("}")[0] for part in TEXT.split("{")[1:]]


class MayLabel(Func):
    """The condition on a slot under which a person may label its revision.

    They have no slot of the same round there, have not passed it on, and have not seen others' labels, by deciding, by
    putting gold in force or by opening another's question, nor what an agent proposes.
    """

    output_field = BooleanField()

    def __init__(self, person: User | OuterRef) -> None:
        who = person if isinstance(person, OuterRef) else Value(person.pk, output_field=UUIDField())
        super().__init__(F("revision"), F("round"), who)

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        """Return the text for these columns and this person."""
        names = ("revision", "round", "person")
        found = {name: compiler.compile(each) for name, each in zip(names, self.get_source_expressions(), strict=True)}
        text = TEXT.format(**{name: sql for name, (sql, _) in found.items()})
        return text, [value for name in PLACES for value in found[name][1]]
