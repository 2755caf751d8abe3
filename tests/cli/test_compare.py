"""`toolevals compare`: what the server says of two runs, as text and as JSON."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from tests.client.answering import answer
from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.client.http import Request, Response

LAYER = {
    "name": "outcome",
    "examples": 20,
    "before": 0.55,
    "after": 0.95,
    "difference": 0.4,
    "interval": {"low": 0.15, "high": 0.6},
    "fixed": 9,
    "broken": 1,
    "p_value": 0.021484375,
    "p_holm": 0.04296875,
}
FOUND = {
    "sentence": "Better, and not by chance.",
    "details": "Difference +40.0 points.",
    "tools_sentence": "",
    "label_noise": "Label noise is unknown: all gold was imported.",
    "cautions": ["Other graders graded them."],
    "examples": 20,
    "outside": {"only_before": 2, "only_after": 0, "other_gold": 0},
    "differences": [{"what": "prompt", "before": "p1", "after": "p2"}],
    "layers": [LAYER],
}
MOVED = {"before": 9.0, "after": 1.0, "fixed": 9, "broken": 1, "p_value": 0.02, "p_holm": 0.086}
STILL = {"before": 0.0, "after": 0.0, "fixed": 0, "broken": 0, "p_value": 1.0, "p_holm": 1.0}
RECALL = {"before": 0.4, "after": 0.9333, "difference": 0.5333, "interval": None}
TOOLS = [
    {"tool": "refund", "support": [15.0, 15.0], "recall": RECALL, "missed": MOVED, "wrong": STILL},
    {"tool": "quiet", "support": [5.0, 5.0], "recall": RECALL, "missed": STILL, "wrong": STILL},
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A server that knows runs 1 and 2; the addresses that it was asked for."""
    seen: list[str] = []

    def server(request: Request) -> Response:
        asked = urlsplit(request.url)
        seen.append(f"{asked.path}?{asked.query}")
        if "/compare/3/" in asked.path:
            return answer(409, json={"detail": "Two datasets cannot be compared."})(request)
        return answer(json={"tools": TOOLS} if asked.path.endswith("tools/") else FOUND)(request)

    monkeypatch.setattr("toolevals.client.http.over_the_network", server)
    monkeypatch.setenv("TOOLEVALS_TOKEN", "t")
    monkeypatch.setenv("TOOLEVALS_PROJECT", "shop")
    return seen


def test_a_comparison_is_a_sentence_and_two_tables(asked, capsys):
    assert command.main(["compare", "1", "2", "--layer", "selection"]) == Exit.OK
    out = capsys.readouterr().out
    said = ("Better, and not by chance.", FOUND["details"], FOUND["label_noise"], "Other graders graded them.", "")
    assert out.startswith("\n".join(map(str, said)))
    assert "20 examples compared, left out: 2 only_before\ndiffers: prompt p1 -> p2" in out
    layer = next(line for line in out.splitlines() if line.startswith("outcome"))
    assert layer.split() == [
        "outcome",
        "20",
        "55.0",
        "95.0",
        "+40.0",
        "+15.0",
        "to",
        "+60.0",
        "9",
        "1",
        "0.021",
        "0.043",
    ]
    assert "refund" in out
    assert "9 -> 1" in out
    assert "quiet" not in out
    assert asked[0] == "/api/v1/projects/shop/runs/1/compare/2/?layer=selection"


def test_as_json_it_is_what_the_server_said(asked, capsys):
    assert command.main(["compare", "1", "2", "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out) == FOUND | {"tools": TOOLS}


def test_what_cannot_be_compared_is_said(asked, capsys):
    assert command.main(["compare", "1", "3"]) == Exit.DATA
    assert "Two datasets cannot be compared." in capsys.readouterr().err
