"""Show drafts of edge cases: make them, accept them unchanged or with other words, drop them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.coverage.expected import calls_of
from labeling.errors import InvalidAct
from labeling.expectations.wording import matcher_words
from labeling.models import Dataset, ProposedExample
from labeling.proposals import services
from labeling.proposals.drafts import last_words
from toolevals.grading.edge_cases import EDGE_CASE_SENTENCES, EdgeCase
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest, read_id

_TOKEN = re.compile(r"\s+|[^\s]+")
ROWS = 20
KINDS = [(kind.value, kind.value.replace("_", " ")) for kind in EdgeCase]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words: `same`, `new` or `gone`."""

    state: str
    text: str


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """One draft; `expected` is how the argument is compared and with what, `before` the same in the example's gold."""

    proposal: ProposedExample
    pieces: list[Piece]
    words: str
    expected: str
    before: str
    why: str

    @property
    def kind(self) -> str:
        """The kind in words."""
        return self.proposal.kind.replace("_", " ")


def proposal_rows(proposals: Iterable[ProposedExample]) -> list[ProposalRow]:
    """Return the rows of proposals that were read with their origin's gold."""
    return [_row(proposal) for proposal in proposals]


def _row(proposal: ProposedExample) -> ProposalRow:
    words = last_words(proposal.input)
    gold = proposal.origin.gold
    return ProposalRow(
        proposal=proposal,
        pieces=word_pieces(last_words(proposal.origin.input), words),
        words=words,
        expected=_argument(proposal.expectation, proposal),
        before=_argument(gold.expectation if gold else None, proposal),
        why=EDGE_CASE_SENTENCES[EdgeCase(proposal.kind)],
    )


def word_pieces(before: str, after: str) -> list[Piece]:
    """Return the words of both texts, in order, with what is new and what is gone."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces: list[Piece] = []
    for tag, start, end, low, high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[start:end])))
            continue
        pieces += [Piece("gone", "".join(old[start:end]))] if end > start else []
        pieces += [Piece("new", "".join(new[low:high]))] if high > low else []
    return pieces


def _argument(expectation: dict[str, object] | None, proposal: ProposedExample) -> str:
    name = proposal.parameter.split("/")[1].replace("~1", "/").replace("~0", "~")
    for call in calls_of(expectation or {}):
        if call.get("tool") == proposal.tool and name in (call.get("arguments") or {}):
            return " ".join(part for part in matcher_words(call["arguments"][name]) if part)
    return ""


@require_GET
def proposals(request: ProjectRequest, dataset: str) -> HttpResponse:
    """List the drafts that no one has decided, by tool and kind where asked."""
    dataset_row = _dataset(request, dataset)
    chosen = _chosen(request)
    undecided = ProposedExample.objects.of_dataset(dataset_row).open()
    rows = undecided.about(**chosen).select_related("origin__example", "origin__gold", "tools")
    page = page_of(rows, request.GET.get("before", ""), ROWS)
    context = {
        "dataset": dataset_row,
        "here": "coverage",
        "page": page,
        "rows": proposal_rows(page.rows),
        "chosen": chosen,
        "kinds": KINDS,
        "tools": undecided.order_by("tool").values_list("tool", flat=True).distinct()[:500],
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "labeling/proposals.html", context)


@require_POST
def proposals_make(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Draft more."""
    dataset_row = _dataset(request, dataset)
    chosen = _chosen(request)
    made = services.proposals_make(
        dataset=dataset_row,
        actor=request.user,
        tools=[chosen["tool"]] if chosen["tool"] else None,
        kinds=[chosen["kind"]] if chosen["kind"] else None,
    )
    said = f"{made} new draft{pluralize(made)}." if made else "No more drafts can be generated from the current gold."
    messages.info(request, said)
    return _back(request, dataset_row)


@require_POST
def proposals_decide(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Accept or drop the drafts that are marked, or the one whose button was pressed."""
    dataset_row = _dataset(request, dataset)
    act, _, one = request.POST.get("act", "").partition(" ")
    marked = [key for each in ([one] if one else request.POST.getlist("mark")) if (key := read_id(each))]
    if act == "accept" and one and f"words {one}" in request.POST:
        _accept_changed(request, dataset_row, marked)
    elif act == "accept":
        done = services.proposals_accept(dataset=dataset_row, actor=request.user, proposals=marked)
        messages.info(request, f"{done} new example{pluralize(done)} to label.")
    elif act == "drop":
        done = services.proposals_drop(dataset=dataset_row, actor=request.user, proposals=marked)
        messages.info(request, f"{done} draft{pluralize(done)} dropped.")
    return _back(request, dataset_row)


def _accept_changed(request: ProjectRequest, dataset: Dataset, marked: list[UUID]) -> None:
    proposal = get_object_or_404(ProposedExample.objects.of_dataset(dataset), pk__in=marked)
    words = request.POST[f"words {proposal.pk}"]
    try:
        example = services.proposal_accept(proposal=proposal, actor=request.user, words=words)
    except InvalidAct as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"{example.external_id} is now in the queue.")


def _back(request: ProjectRequest, dataset: Dataset) -> HttpResponse:
    query = urlencode({name: value for name, value in _chosen(request).items() if value})
    address = reverse("labeling:proposals", args=[request.project.slug, dataset.slug])
    return redirect(f"{address}?{query}" if query else address)


def _chosen(request: ProjectRequest) -> dict[str, str]:
    said = request.POST if request.method == "POST" else request.GET
    kind = said.get("kind", "")
    return {"tool": said.get("tool", "")[:200], "kind": kind if kind in list(EdgeCase) else ""}


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=slug)
