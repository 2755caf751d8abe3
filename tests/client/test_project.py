"""The client without a server: what is not set, packages that are not installed, pages and waits."""

from __future__ import annotations

import sys

import pytest

from tests.client.answering import answer
from toolevals.client import Project, Rows, ServerSettingsError


def test_what_is_not_set_is_named(monkeypatch):
    for name in ("URL", "PROJECT", "TOKEN"):
        monkeypatch.delenv(f"TOOLEVALS_{name}", raising=False)
    monkeypatch.setenv("TOOLEVALS_PROJECT", "shop")
    with pytest.raises(ServerSettingsError, match="not set: TOOLEVALS_URL, TOOLEVALS_TOKEN"):
        Project.from_environment()


def test_a_data_frame_without_pandas_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Rows(lambda: iter(()), dict).to_pandas()


def test_lists_are_asked_for_a_page_at_a_time_and_only_when_read():
    asked = []

    def server(request):
        asked.append(request.url)
        more = f"{request.url}&cursor=2" if "cursor" not in request.url else None
        return answer(json={"results": [{"slug": f"d{len(asked)}", "name": "D"}], "next": more})(request)

    project = Project(server="http://shop.example", project="shop", token="te_x", transport=server)
    datasets = project.datasets()
    assert asked == []
    first = next(iter(datasets))
    assert (first.slug, len(asked)) == ("d1", 1)
    assert len(list(datasets)) == 2


def test_a_long_lived_project_still_waits_for_a_server_that_is_restarted():
    """The time for the work is counted from when someone waits for it."""
    now, answers = [0.0], [answer(json=[]), answer(502), answer(json=["there"])]

    def sleep(seconds):
        now[0] += seconds

    def server(request):
        return answers.pop(0)(request)

    project = Project(
        server="http://shop.example",
        project="shop",
        token="te_x",
        timeout=60,
        transport=server,
        sleep=sleep,
        clock=lambda: now[0],
    )
    project.request("GET", "datasets/")
    now[0] = 100_000.0
    assert project.request("GET", "datasets/") == ["there"]
