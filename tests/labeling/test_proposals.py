"""Drafts of edge cases: what follows from an example, what does not, and what becomes of a draft."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.coverage.expected import calls_of
from labeling.datasets.services import dataset_create
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example, LabelSlot, ProposalState, ProposedExample, Resolution
from labeling.proposals.drafts import drafts_of
from labeling.proposals.services import proposal_accept, proposals_accept, proposals_drop, proposals_make
from labeling.proposals.views import proposal_rows, word_pieces
from toolevals.grading.reading.examples import read_example
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Expectation
from toolevals.workspace.models import Project

BOOK: dict[str, Any] = {
    "name": "book",
    "description": "Book a room.",
    "input_schema": {
        "type": "object",
        "properties": {
            "guest_name": {"type": "string"},
            "nights": {"type": "integer"},
            "arrival": {"type": "string", "format": "date-time"},
            "price": {"type": "number"},
            "currency": {"type": "string"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
            "floor": {"type": "integer"},
        },
        "required": ["guest_name", "nights"],
        "additionalProperties": False,
    },
}
TOOLS = {spec.name: spec for spec in read_tools([BOOK]).tools}


def shown(words: str, *earlier: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [*earlier, {"role": "user", "content": words}]}


def booked(**arguments: Any) -> dict[str, Any]:
    matchers = {name: {"exact": value} for name, value in arguments.items()}
    return {"kind": "calls", "alternatives": [{"ordered": [{"tool": "book", "arguments": matchers}]}]}


def drafted(words: str, *earlier: dict[str, Any], **arguments: Any) -> dict[tuple[str, str], tuple[str, Any]]:
    """Return the drafts of an example: (kind, parameter) -> the user's words and the argument's matcher."""
    found = {}
    for draft in drafts_of(shown(words, *earlier), booked(**arguments), TOOLS):
        call = next(calls_of(draft.expectation))
        name = draft.parameter.removeprefix("/")
        Expectation.from_document(draft.expectation)
        found[draft.kind.value, name] = (draft.input["messages"][-1]["content"], call["arguments"].get(name))
    return found


def test_null_and_empty_lists_are_for_optional_arguments_that_gold_does_not_name() -> None:
    found = drafted("Two nights for Jonas", guest_name="Jonas", nights=2, floor=3)
    assert found["null_optional", "note"] == (
        "Two nights for Jonas. I have no preference about the note.",
        {"one_of": [None], "optional": True},
    )
    # Its schema admits no null: it is left out.
    assert found["null_optional", "price"][1] == {"absent": True}
    assert found["empty_array", "extras"] == (
        "Two nights for Jonas. Leave the list of extras empty.",
        {"one_of": [[]], "optional": True},
    )
    assert ("null_optional", "floor") not in found
    assert ("null_optional", "guest_name") not in found


def test_an_identifier_is_spelled_with_other_letters_where_the_user_alone_says_it() -> None:
    assert drafted("A room for Jonas!", guest_name="Jonas", nights=1)["unicode_identifier", "guest_name"] == (
        "A room for Jönas!",
        {"exact": "Jönas"},
    )
    known = {"role": "system", "content": "Signed in: Jonas"}
    assert ("unicode_identifier", "guest_name") not in drafted("For Jonas", known, guest_name="Jonas", nights=1)
    assert ("unicode_identifier", "guest_name") not in drafted("For me", guest_name="Jonas", nights=1)
    assert ("unicode_identifier", "guest_name") not in drafted("For Jonassen", guest_name="Jonas", nights=1)


def test_a_time_gets_a_zone() -> None:
    found = drafted("We come at 9:30.", guest_name="J", nights=1, arrival="2026-03-10T09:30:00+01:00")
    assert found["time_zone", "arrival"] == (
        "We come at 09:30 UTC.",
        {"one_of": ["2026-03-10T09:30:00Z", "2026-03-10T09:30:00+00:00"]},
    )
    unsaid = drafted("We come in the morning.", guest_name="J", nights=1, arrival="2026-03-10T09:30:00+01:00")
    assert ("time_zone", "arrival") not in unsaid


def test_money_is_of_another_currency_or_written_in_another_way() -> None:
    found = drafted("For 80 EUR.", guest_name="J", nights=1, price=80, currency="EUR")
    assert found["currency", "currency"] == ("For 80 USD.", {"exact": "USD"})
    assert found["currency", "price"] == ("For €80.00.", {"exact": 80})
    assert drafted("Up to $80, thanks", guest_name="J", nights=1, price=80)["currency", "price"][0] == (
        "Up to 80.00 USD, thanks"
    )


@pytest.mark.parametrize(
    ("words", "nights", "expected"),
    [
        ("I stay 21 nights", 21, "I stay twenty-one nights"),
        ("I stay 1500 nights", 1500, "I stay 1,500 nights"),
        ("2 people, 2 nights", 2, None),
        ("I stay 150 nights", 150, None),
        ("Room A-2, please", 2, None),
        ("For 2.5 hours", 2, None),
    ],
)
def test_numbers_are_written_in_words(words: str, nights: int, expected: str | None) -> None:
    found = drafted(words, guest_name="J", nights=nights).get(("type_coercion", "nights"))
    assert found == ((expected, {"exact": nights}) if expected else None)


@pytest.mark.parametrize(
    "given",
    [
        {"messages": [{"role": "user", "content": "2 nights"}, {"role": "assistant", "content": "For whom?"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "2 nights"}]}]},
        {"messages": []},
        {},
        None,
    ],
)
def test_only_words_of_the_user_at_the_end_are_changed(given: Any) -> None:
    assert list(drafts_of(given, booked(guest_name="J", nights=2), TOOLS)) == []


def test_of_several_alternatives_none_is_changed() -> None:
    either = booked(nights=2)
    either["alternatives"] *= 2
    assert list(drafts_of(shown("2 nights"), either, TOOLS)) == []
    assert list(drafts_of(shown("Hello"), {"kind": "no_call"}, TOOLS)) == []


@pytest.fixture
def booking(project: Project) -> Dataset:
    """Two examples with gold and one without."""
    made = dataset_create(project=project, actor=None, slug="booking", name="Booking")
    rows = [
        {"id": "b-1", "input": shown("4 nights for Jonas"), "expectation": booked(guest_name="Jonas", nights=4)},
        {"id": "b-2", "input": shown("7 nights for Mara"), "expectation": booked(guest_name="Mara", nights=7)},
        {"id": "b-3", "input": shown("9 nights for Timo")},
    ]
    examples_import(dataset=made, actor=None, rows=[read_example(each | {"tools": [BOOK]}) for each in rows])
    return made


@pytest.mark.django_db
def test_one_draft_is_made_of_each_parameter_and_kind(booking: Dataset) -> None:
    made = proposals_make(dataset=booking, actor=None, kinds=["type_coercion", "unicode_identifier"])
    assert made == 2
    assert set(ProposedExample.objects.values_list("origin__example__external_id", flat=True)) == {"b-1"}
    assert proposals_make(dataset=booking, actor=None, kinds=["type_coercion"]) == 0
    dropped = ProposedExample.objects.get(kind="type_coercion")
    assert proposals_drop(dataset=booking, actor=None, proposals=[dropped.pk]) == 1
    # Dropped: the next example that gives one is asked.
    assert proposals_make(dataset=booking, actor=None, kinds=["type_coercion"]) == 1
    again = ProposedExample.objects.open().get(kind="type_coercion")
    assert again.origin.example.external_id == "b-2"
    assert proposals_make(dataset=booking, actor=None, tools=["other"]) == 0


@pytest.mark.django_db
def test_what_is_accepted_is_to_be_labelled(booking: Dataset) -> None:
    proposals_make(dataset=booking, actor=None, kinds=["type_coercion"])
    proposal = ProposedExample.objects.get()
    example = proposal_accept(proposal=proposal, actor=None, words=" FOUR nights for Jonas ")
    assert (example.external_id, example.edge_case, example.bucket) == (
        "b-1+type_coercion",
        "type_coercion",
        "arguments",
    )
    assert example.current is not None
    assert example.current.input["messages"][-1]["content"] == "FOUR nights for Jonas"
    assert example.current.resolution == Resolution.OPEN
    assert example.current.gold is None
    assert example.current.tools_id == proposal.tools_id
    assert LabelSlot.objects.filter(revision=example.current).count() == 2
    proposal.refresh_from_db()
    assert (proposal.state, proposal.example) == (ProposalState.ACCEPTED, example)
    with pytest.raises(InvalidAct):
        proposal_accept(proposal=proposal, actor=None)


@pytest.mark.django_db
def test_a_name_that_is_taken_gets_a_number(booking: Dataset) -> None:
    examples_import(
        dataset=booking,
        actor=None,
        rows=[read_example({"id": "b-1+type_coercion", "input": shown("?"), "tools": [BOOK]})],
    )
    proposals_make(dataset=booking, actor=None, kinds=["type_coercion"])
    every = list(ProposedExample.objects.values_list("pk", flat=True))
    assert proposals_accept(dataset=booking, actor=None, proposals=every) == 1
    assert Example.objects.filter(external_id="b-1+type_coercion-2").exists()
    assert proposals_accept(dataset=booking, actor=None, proposals=every) == 0


@pytest.mark.django_db
@pytest.mark.parametrize("words", ["", "   ", "x" * 20_001])
def test_words_must_be_there(booking: Dataset, words: str) -> None:
    proposals_make(dataset=booking, actor=None, kinds=["type_coercion"])
    with pytest.raises(InvalidAct):
        proposal_accept(proposal=ProposedExample.objects.get(), actor=None, words=words)


@pytest.mark.django_db
def test_a_row_shows_what_changes(booking: Dataset) -> None:
    proposals_make(dataset=booking, actor=None, kinds=["unicode_identifier"])
    row = proposal_rows(ProposedExample.objects.select_related("origin__gold"))[0]
    assert [(piece.state, piece.text) for piece in row.pieces] == [
        ("same", "4 nights for "),
        ("gone", "Jonas"),
        ("new", "Jönas"),
    ]
    assert (row.before, row.expected) == ('equals "Jonas"', 'equals "Jönas"')


def test_pieces_together_are_both_texts() -> None:
    pieces = word_pieces("a  b c", "a b d e")
    assert "".join(piece.text for piece in pieces if piece.state != "new") == "a  b c"
    assert "".join(piece.text for piece in pieces if piece.state != "gone") == "a b d e"
