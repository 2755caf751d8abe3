"""The verbs that speak to a server, against the running application."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from typing import Any

import pytest

from tests.agents.chat_server import Trouble, calls, chat_server
from tests.agents.mcp_shop import shop_over_http
from tests.agents.messages_server import messages_server, use
from tests.agents.webhook_server import webhook_server
from tests.cli.served import EXAMPLES, OPEN_RUNS, PREDICTIONS, TOOLS, imported, lines, server
from toolevals.cli import main as command
from toolevals.cli.output import Exit

__all__ = ["imported", "server"]

pytestmark = pytest.mark.servers


def test_the_baseline_runs_and_its_rates_are_printed(imported, capsys):
    assert command.main(["run", "core", "--experiment", "first", "--baseline"]) == Exit.OK
    printed = capsys.readouterr().out
    assert "/p/from-cli/runs/" in printed
    assert " of 2, " in printed


def test_predictions_are_graded(imported, tmp_path, capsys):
    file = lines(tmp_path / "predictions.jsonl", PREDICTIONS)
    asked = ["run", "core", "--experiment", "first", "--predictions", file, "--name", "an-agent", "--json"]
    assert command.main(asked) == Exit.OK
    counts = json.loads(capsys.readouterr().out)["shown"]["counts"]
    assert counts["selection"] == {"failed": 1, "passed": 1}
    assert counts["mode"] == {"needless_call": 1}


def test_a_run_is_held_against_what_is_required(imported, tmp_path, capsys):
    file = lines(tmp_path / "predictions.jsonl", PREDICTIONS)
    asked = ["run", "core", "--experiment", "first", "--predictions", file, "--name", "an-agent"]
    assert command.main([*asked, "--require", "selection=0.5"]) == Exit.OK
    assert "gate: passed" in capsys.readouterr().err
    assert command.main([*asked, "--require", "selection=0.5", "--require", "outcome=0.6"]) == Exit.FAILED
    said = capsys.readouterr().err
    assert "failed     outcome" in said
    assert "50.0% of 2" in said
    # Nothing here has an end state: what nobody has scored is never passed.
    assert command.main([*asked, "--require", "execution=0"]) == Exit.FAILED
    assert "gate: unanswered" in capsys.readouterr().err
    # Metrics are of cases, too, and a tool has the cases that expect it.
    more = ["--require", "tool_name_f1=0.5", "--require", "selection:get_order_status=1"]
    assert command.main([*asked, *more]) == Exit.OK
    assert "selection pass_rate, get_order_status: 100.0% of 1" in capsys.readouterr().err
    assert command.main([*asked, "--require", "selection:no_such_tool=0.5"]) == Exit.FAILED
    assert "gate: unanswered" in capsys.readouterr().err
    for wrong in (
        *(["--require", each] for each in ("luck=1", "outcome=2", "outcome:=1", "outcome")),
        ["--require", "outcome=1", "--no-wait"],
    ):
        assert command.main([*asked, *wrong]) == Exit.CONFIGURATION


def test_an_agent_is_asked_by_each_connector(imported, capsys):
    def model(_: Any) -> Any:
        return calls(("get_order_status", '{"order_id": "A-1"}'))

    common = ["run", "core", "--experiment", "live", "--name", "an-agent"]
    with chat_server(model) as server:
        asked = [*common, "--base-url", server.url, "--model", "small", "--temperature", "0"]
        assert command.main([*asked, "--estimate"]) == Exit.OK
        assert json.loads(capsys.readouterr().out)["conversations"] == 2
        assert command.main(asked) == Exit.OK
    with messages_server(lambda _: [use("get_order_status", {"order_id": "A-1"})]) as messages:
        asked = [*common, "--connector", "anthropic", "--base-url", messages.url, "--model", "small"]
        assert command.main([*asked, "--max-tokens", "90"]) == Exit.OK
    with webhook_server(lambda _: {"answer": "Good morning!"}) as webhook:
        asked = [*common, "--connector", "webhook", "--url", webhook.url, "--agent-timeout", "60"]
        assert command.main([*asked, "--trials", "2"]) == Exit.OK
    assert (len(server.requests), len(messages.requests), len(webhook.tasks)) == (2, 2, 4)
    assert messages.requests[0]["max_tokens"] == 90
    assert "  outcome " in capsys.readouterr().out
    for wrong in (
        ["--connector", "webhook", "--baseline"],
        ["--connector", "anthropic"],
        [],
        ["--baseline", "--estimate"],
    ):
        assert command.main(["run", "core", "--experiment", "live", *wrong]) == Exit.CONFIGURATION


def test_a_prediction_for_no_example_is_refused_with_its_line_and_leaves_no_run(server, imported, tmp_path, capsys):
    count = "from toolevals.runs.models import Run; print(Run.with_trash.count())"
    before = server.python(count)
    file = lines(tmp_path / "predictions.jsonl", [*PREDICTIONS, {"id": "ex-9", "tool_calls": []}])
    asked = ["run", "core", "--experiment", "first", "--predictions", file, "--name", "an-agent"]
    assert command.main(asked) == Exit.DATA
    said = capsys.readouterr().err
    assert ("3, /id" in said, "look again" in said, "/jobs/" in said) == (True, False, True)
    assert server.python(count) == before


def test_a_wrong_line_refuses_the_file(imported, tmp_path, capsys):
    file = lines(tmp_path / "examples.jsonl", [{**EXAMPLES[0], "id": "ex-3"}, {"id": "ex-4", "input": 1}])
    assert command.main(["import", "jsonl", file, "--dataset", "core"]) == Exit.DATA
    assert "2, /input" in capsys.readouterr().err
    assert command.main(["export", "core"]) == Exit.OK
    assert "ex-3" not in capsys.readouterr().out


def test_an_export_comes_in_again_unchanged(imported, tmp_path, capsys):
    file = tmp_path / "core.jsonl"
    assert command.main(["export", "core", "-o", str(file)]) == Exit.OK
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["ex-1", "ex-2"]
    assert command.main(["import", "jsonl", str(file), "--dataset", "again"]) == Exit.OK
    assert command.main(["export", "again"]) == Exit.OK
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert again == [json.loads(line) for line in file.read_text().splitlines()]


def test_versions_are_listed_frozen_and_tagged(imported, tmp_path, capsys):
    assert command.main(["versions", "core"]) == Exit.OK
    assert capsys.readouterr().out.startswith("core@1  2 examples, ")
    assert command.main(["versions", "core", "--freeze", "unchanged"]) == Exit.OK
    assert capsys.readouterr().out.startswith("core@1 ")
    more = lines(tmp_path / "more.jsonl", [{**EXAMPLES[1], "id": "ex-5"}])
    assert command.main(["import", "jsonl", more, "--dataset", "core"]) == Exit.OK
    capsys.readouterr()
    assert command.main(["versions", "core", "--freeze", "one more", "--tag", "release-2", "--json"]) == Exit.OK
    (made,) = json.loads(capsys.readouterr().out)
    assert (made["name"], made["note"], made["tags"], made["size"]) == ("core@2", "one more", ["release-2"], 3)
    assert command.main(["versions", "core@1", "--tag", "release-2"]) == Exit.DATA
    assert "release-2 (version 2)" in capsys.readouterr().err
    assert command.main(["versions", "core@1", "--tag", "release-2", "--move"]) == Exit.OK
    assert command.main(["export", "core@release-2"]) == Exit.OK
    assert "ex-5" not in capsys.readouterr().out
    assert command.main(["export", "core", "--version", "2"]) == Exit.OK
    assert "ex-5" in capsys.readouterr().out
    wrong = lines(tmp_path / "wrong.jsonl", [{**EXAMPLES[1], "id": "ex-6", "expected_tool": "nothing_of_the_kind"}])
    assert command.main(["import", "jsonl", wrong, "--dataset", "core", "--freeze", "wrong"]) == Exit.DATA
    assert "ex-6: /alternatives/0/" in capsys.readouterr().err
    assert command.main(["versions", "core", "--freeze", "wrong", "--misfits-reason", "a test"]) == Exit.OK
    assert "wrong (1 label breaks its tools' schemas: a test)" in capsys.readouterr().out
    assert command.main(["versions", "core@gone"]) == Exit.CONFIGURATION


def test_a_frozen_export_comes_byte_equal_twice_and_through_another_dataset(imported, tmp_path, capsys):
    files = [tmp_path / f"{name}.jsonl" for name in ("first", "second", "again")]
    for file in files[:2]:
        assert command.main(["export", "core@1", "-o", str(file)]) == Exit.OK
    frozen = ["import", "jsonl", str(files[0]), "--dataset", "round", "--freeze", "as it came"]
    assert command.main(frozen) == Exit.OK
    assert command.main(["export", "round@1", "-o", str(files[2])]) == Exit.OK
    texts = [file.read_bytes() for file in files]
    assert texts[0] == texts[1] == texts[2]
    assert texts[0].count(b"\n") == 2


def test_a_run_names_its_version(imported, capsys):
    assert command.main(["run", "core@1", "--experiment", "named", "--baseline", "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["dataset_version"]["version"] == 1


def test_a_command_outlives_a_server_that_is_killed_while_it_waits(imported, server):
    # Nothing is done while there is no worker, so that the command certainly waits.
    server.application.worker_stop()
    words = [sys.executable, "-m", "toolevals.cli.main", "run", "core@1", "--experiment", "killed", "--baseline"]
    waiting = subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while server.python(OPEN_RUNS).strip() != "1":
            assert waiting.poll() is None
        server.application.web_kill()
        assert waiting.stderr is not None
        assert "does not answer" in waiting.stderr.readline()
    finally:
        server.application.web_start()
        server.application.worker_start()
    out, err = waiting.communicate(timeout=300)
    assert (waiting.returncode, "the server answers" in err) == (Exit.OK, True), err
    assert ("look again" in err, "the page: http" in err) == (False, True), err
    assert "/p/from-cli/runs/" in out


def test_a_project_that_is_not_ours_is_not_there(server, capsys):
    assert command.main(["export", "core", "--project", "other"]) == Exit.CONFIGURATION
    assert "404: Not Found: projects/other/datasets/core/" in capsys.readouterr().err


def test_what_is_wrong_with_a_whole_request_is_said_without_a_place(imported, capsys):
    assert command.main(["run", "core@1", "--experiment", "named", "--baseline"]) == Exit.OK
    ran = capsys.readouterr().out
    number = ran.split(maxsplit=2)[1].rstrip(":")
    assert command.main(["retry", number, "--errored"]) == Exit.DATA
    said = capsys.readouterr()
    assert "\n  The run has no errored case" in said.err
    # The same table as the run's own.
    assert command.main(["retry", number, "--grades"]) == Exit.OK
    assert capsys.readouterr().out == ran


def test_a_large_document_of_tools_is_published_by_a_job_that_is_waited_for(server, capsys, tmp_path):
    tools = [{"name": f"tool_{n}", "description": "x" * 600, "inputSchema": {"type": "object"}} for n in range(500)]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}))
    assert command.main(["import", "tools", str(tmp_path / "tools.json"), "--registry", "large"]) == Exit.OK
    assert capsys.readouterr().out == "large@1: 500 tools\n"


def test_what_an_mcp_server_lists_is_published_from_here(server, capsys):
    line = f"{sys.executable} -m tests.agents.mcp_shop"
    assert command.main(["import", "mcp", "--registry", "mcp-shop", "--command", line, "--note", "pipes"]) == Exit.OK
    assert capsys.readouterr().out == "mcp-shop@1: 3 tools\n"
    with shop_over_http() as url:
        assert command.main(["import", "mcp", "--registry", "mcp-shop", "--url", url]) == Exit.OK
    assert command.main(["import", "mcp", "--registry", "mcp-shop", "--url", url]) == Exit.UNREACHABLE
    assert command.main(["import", "mcp", "--registry", "mcp-shop", "--url", "ftp://x"]) == Exit.CONFIGURATION
    assert "The MCP server cannot be used" in capsys.readouterr().err


def test_a_model_named_with_its_protocol_needs_nothing_set_up_on_pages(imported, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-kept-once")
    with chat_server(lambda _: calls(("get_order_status", '{"order_id": "A-1"}'))) as asked:
        monkeypatch.setenv("OPENAI_BASE_URL", asked.url)
        assert command.main(["run", "core", "--model", "openai:small:8b"]) == Exit.OK
        said = capsys.readouterr()
        assert "OPENAI_API_KEY saved as project secret openai-127-0-0-1-" in said.err
        assert "sk-kept-once" not in said.out + said.err
        # What the project holds is used, and no key is sent again.
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
        assert command.main(["run", "core", "--model", "openai:small:8b"]) == Exit.OK
        assert "to replace it: http://" in capsys.readouterr().err
    assert set(asked.keys) == {"Bearer sk-kept-once"}
    assert {request["model"] for request in asked.requests} == {"small:8b"}
    assert command.main(["run", "core", "--model", "openai:"]) == Exit.CONFIGURATION
    assert command.main(["run", "core", "--model", "openai:small", "--base-url", "nowhere"]) == Exit.CONFIGURATION
    capsys.readouterr()


def test_a_run_of_errors_alone_says_why_and_is_no_success(imported, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with chat_server(lambda _: Trouble(401)) as asked:
        assert command.main(["run", "core", "--model", "openai:closed", "--base-url", asked.url]) == Exit.FAILED
    said = capsys.readouterr().err
    assert "errored: ex-1, trial 0: " in said
    assert "401" in said
    assert "No scored cases. To re-run errored cases: toolevals retry" in said


def test_a_login_stands_for_address_project_and_token(imported, server, tmp_path, capsys, monkeypatch):
    kept = tmp_path / "toolevals" / "servers.json"
    token = os.environ["TOOLEVALS_TOKEN"]
    for name in ("TOOLEVALS_URL", "TOOLEVALS_PROJECT", "TOOLEVALS_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO("te_wrong\n"))
    assert command.main(["login", server.url]) == Exit.CONFIGURATION
    assert not kept.exists()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    assert command.main(["login", f"{server.url}/"]) == Exit.OK
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    said = capsys.readouterr()
    assert "Rae Example, owner of the project from-cli" in said.out
    assert token not in said.out + said.err
    assert command.main(["versions", "core"]) == Exit.OK
    # The token goes to no other server.
    assert command.main(["versions", "core", "--server", "http://127.0.0.1:9"]) == Exit.CONFIGURATION
    assert "no token at http://127.0.0.1:9" in capsys.readouterr().err
    assert command.main(["logout", "--project", "other"]) == Exit.CONFIGURATION
    assert command.main(["logout"]) == Exit.OK
    assert command.main(["versions", "core"]) == Exit.CONFIGURATION
    assert token not in kept.read_text()


def test_tools_named_for_a_dataset_that_is_there_are_offered_from_now_on(imported, tmp_path, capsys):
    log = tmp_path / "chats.txt"
    log.write_text("Conversation: 17\nUser: Where is A-1?\nAssistant: It was sent.\n")
    asked = ["import", "chatlog", str(log), "--dataset", "chats"]
    assert command.main(asked) == Exit.DATA
    assert "no tools: name a registry version" in capsys.readouterr().err
    assert command.main([*asked, "--tools", "shop"]) == Exit.OK
    shown = capsys.readouterr()
    assert "chats offers shop@1 as default tools from now on" in shown.out + shown.err
    assert command.main([*asked, "--tools", "shop@1"]) == Exit.OK
    shown = capsys.readouterr()
    assert "from now on" not in shown.out + shown.err
    assert command.main([*asked, "--tools", "none-such"]) == Exit.DATA


def test_files_come_from_standard_input_and_warnings_are_printed(imported, tmp_path, capsys, monkeypatch):
    def given(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    given(json.dumps(TOOLS))
    assert command.main(["import", "tools", "-", "--registry", "piped"]) == Exit.OK
    odd = EXAMPLES[0] | {"id": "ex-odd", "expected_tool": "sell_order"}
    given(json.dumps(odd) + "\n")
    assert command.main(["import", "jsonl", "-", "--dataset", "piped", "--tools", "shop"]) == Exit.OK
    assert "toolevals: line 1 /" in capsys.readouterr().err
    given("".join(json.dumps(row) + "\n" for row in PREDICTIONS))
    asked = ["run", "core", "--predictions", "-", "--name", "an-agent"]
    assert command.main(asked) == Exit.OK
    assert command.main([*asked, "--system", "-"]) == Exit.CONFIGURATION
    assert "both read standard input" in capsys.readouterr().err


def test_conversations_give_the_decision_that_is_asked_for_and_a_table_finds_its_delimiter(imported, tmp_path, capsys):
    file = tmp_path / "conversations.jsonl"
    turns = [
        {"from": "human", "value": "What is the state of order A-1?"},
        {
            "from": "gpt",
            "value": '<tool_call>{"name": "get_order_status", "arguments": {"order_id": "A-1"}}</tool_call>',
        },
        {"from": "tool", "value": "sent"},
        {"from": "gpt", "value": "It was sent."},
    ]
    file.write_text(json.dumps({"id": "h1", "conversations": turns}) + "\n")
    given = ["import", "sharegpt", str(file), "--dataset", "core"]
    assert command.main([*given, "--decision", "every"]) == Exit.OK
    assert "added 2" in capsys.readouterr().out
    assert command.main(given) == Exit.OK
    assert "take the decision every" in capsys.readouterr().err
    table = tmp_path / "semicolon.csv"
    table.write_text("Case;Question;Tool\nc1;Weather, in Oslo?;get_order_status\n")
    columns = ["--map", "Case=id", "--map", "Question=user", "--map", "Tool=tool"]
    assert command.main(["import", "csv", str(table), "--dataset", "core", *columns]) == Exit.OK
    assert "added 1" in capsys.readouterr().out
