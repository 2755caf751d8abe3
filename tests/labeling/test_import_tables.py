"""CSV: columns found and said, cells as values, hostile files, faults by line and column."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeling.imports import tables
from labeling.imports.readers.columns import detected_targets, targets_problems
from labeling.imports.tables import Records, preview, table_parts
from labeling.models import Example
from tests.labeling.importing import load, problems, shown
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import JobState

__all__ = ["load"]

COLUMNS = {"id": "id", "question": "user", "tool": "tool", "args": "arguments"}
PLAIN = {"columns": COLUMNS}


def test_columns_are_known_by_their_names():
    names = ["Case ID", "Customer question", "Expected tool", "arg.order_id", "Difficulty", "Rationale", "Price"]
    assert list(detected_targets(names).values()) == [
        "id",
        "user",
        "tool",
        "argument:order_id",
        "stratum:difficulty",
        "rationale",
        "",
    ]


def test_a_table_whose_format_is_left_open_is_read_by_its_columns_names(load):
    table = b"Case;Question;Tool;Order ID;Price\nt-1;Where is A-1?;get_order;A-1;3\nt-2;Hello!;(none);;\n"
    for content in (table, gzip.compress(table)):
        job = load(content, "auto")
        assert job.state == JobState.SUCCEEDED, job.report
        (found,) = job.report["read"]["formats"]
        names = "Case as id, Question as user, Tool as tool, Order ID as argument:order_id; not used: Price"
        assert found["why"] == f"a table of 5 columns, columns by their names: {names}"
    gold = shown("t-1").gold
    assert gold is not None
    assert gold.expectation["alternatives"][0]["ordered"][0]["arguments"] == {"order_id": {"exact": "A-1"}}
    with pytest.raises(InvalidDocument, match="no column holds the user’s words"):
        load(b"Case,Said,Price\nt-1,Where?,3\n", "auto")
    # What a person says of the columns is in force.
    job = load(b"Case,Said,Price\nt-3,Where?,3\n", "auto", {"columns": {"Case": "id", "Said": "user"}})
    assert job.report["added"] == 1


ORDER = ("order_id", "unit", "reason")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["question", "tool", "order_id", "Unit"], ["user", "tool", "argument:order_id", "argument:unit"]),
        (["question", "tool", "orderId", "colour"], ["user", "tool", "argument:order_id", ""]),
        # One argument is one column, the one that says so most plainly.
        (["question", "tool", "order id", "arg.order_id"], ["user", "tool", "", "argument:order_id"]),
        (["question", "tool", "order id", "ORDER_ID"], ["user", "tool", "argument:order_id", ""]),
        # What is known by its name stays so; where two columns say the same, the second may be an argument.
        (["question", "tool", "reason"], ["user", "tool", "rationale"]),
        (["question", "tool", "why", "reason"], ["user", "tool", "rationale", "argument:reason"]),
        # Without a tool, beside all arguments or a whole expectation, it would be refused.
        (["question", "order_id"], ["user", ""]),
        (["question", "tool", "args", "order_id"], ["user", "tool", "arguments", ""]),
        (["question", "tool", "expectation", "order_id"], ["user", "", "expectation", ""]),
    ],
)
def test_columns_named_like_an_argument_of_the_tools_seem_to_hold_it(columns, found):
    targets = detected_targets(columns, ORDER)
    assert list(targets.values()) == found
    assert targets_problems(targets) == []


@pytest.mark.parametrize(
    ("targets", "pointer"),
    [
        ({"a": "id"}, ""),
        ({"a": "user", "b": "user"}, "/b"),
        ({"a": "user", "b": "mood"}, "/b"),
        ({"a": "user", "b": "messages"}, ""),
        ({"a": "user", "b": "arguments"}, ""),
        ({"a": "user", "t": "tool", "b": "arguments", "c": "argument:x"}, ""),
        ({"a": "user", "t": "tool", "b": "expectation"}, ""),
    ],
)
def test_a_mapping_that_says_nothing_or_twice_the_same_is_refused(targets, pointer):
    assert [problem.pointer for problem in targets_problems(targets)] == [pointer]


def test_rows_become_examples(load):
    text = (
        "\ufeffid;question;tool;arg.order_id;arg.verbose;difficulty\r\n"
        'a;"Where is ""A-1""?\r\nTell me.";get_order;007;true;easy\r\n'
        "b;Hello;(none);;;\r\n"
        ";;;;;\r\n"
        "c;Cancel;;;;\r\n"
    )
    columns = {
        "id": "id", "question": "user", "tool": "tool", "arg.order_id": "argument:order_id",
        "arg.verbose": "argument:verbose", "difficulty": "stratum:difficulty",
    }  # fmt: skip
    job = load(text.encode(), "csv", {"delimiter": ";", "columns": columns})
    assert job.report["added"] == 3
    first = shown("a")
    assert first.input == {"messages": [{"role": "user", "content": 'Where is "A-1"?\r\nTell me.'}]}
    assert first.gold is not None
    # Text stays text where the tool takes text, whatever it looks like.
    assert first.gold.expectation == Expectation.single("get_order", {"order_id": "007", "verbose": True}).to_document()
    assert Example.objects.get(external_id="a").strata == {"difficulty": "easy"}
    assert shown("b").gold is not None
    assert shown("c").gold is None


def test_faults_are_named_by_line_and_column(load):
    rows = [
        b"id,question,tool,args",
        b'a,"two',
        b'lines",get_order,"{""order_id"": ""A""}"',
        b"b,Where?,get_order,{oops",
        b"c,,,",
        b"d,bad \xff bytes,,",
        b"e,nul \x00,,",
        b"f,more,,,cells",
        b"a,again,,",
        b"g,args alone,,{}",
        b"h,no list,get_order,[]",
        b"",
    ]
    job = load(b"\n".join(rows), "csv", PLAIN)
    assert job.state == JobState.FAILED
    assert problems(job) == [
        (4, "/args"),
        (5, "/question"),
        (6, "/question"),
        (7, "/question"),
        (8, ""),
        (9, "/id"),
        (11, "/args"),
    ]
    assert not Example.objects.exists()


def test_a_quote_that_is_never_closed_is_named_where_it_opens(load):
    job = load(b'id,question\na,fine\nb,"never closed\nc,x\n', "csv", {"columns": {"id": "id", "question": "user"}})
    assert [line for line, _ in problems(job)] == [3]


def test_a_line_too_long_is_one_bad_record(load, monkeypatch):
    monkeypatch.setattr(tables, "MAX_LINE_BYTES", 50)
    text = b"id,question\na," + b"x" * 300 + b"\nb,fine\n,\n"
    job = load(text, "csv", {"columns": {"id": "id", "question": "user"}})
    assert problems(job) == [(2, "")]


def test_a_mapping_of_other_columns_is_refused(load):
    job = load(b"id,text\na,b\n", "csv", PLAIN)
    assert job.state == JobState.FAILED
    with pytest.raises(InvalidDocument):
        load(b"id,text\na,b\n", "csv", {})
    with pytest.raises(InvalidDocument):
        load(b"id,text\na,b\n", "csv", PLAIN | {"colour": "blue"})


def test_formulas_lose_the_apostrophe_that_exports_give_them(load):
    load(b"id,question\n'=a,'=1+1\nb,'tis\n", "csv", {"columns": {"id": "id", "question": "user"}})
    assert shown("=a").input["messages"][0]["content"] == "=1+1"
    assert shown("b").input["messages"][0]["content"] == "'tis"


def test_packed_files_are_unpacked_and_broken_ones_refused(load, monkeypatch):
    text = b"id,question,tool,args\na,Where?,,\n"
    assert load(gzip.compress(text), "csv", PLAIN).report["added"] == 1
    cut = load(gzip.compress(text)[:-9], "csv", PLAIN)
    assert cut.state == JobState.FAILED
    assert "is not a whole gzip file, it is whole for the first" in cut.report["errors"][0]["message"]
    lines = b'{"id": "z", "input": {"messages": [{"role": "user"}]}}\n'
    assert load(gzip.compress(lines), "jsonl").report["added"] == 1
    monkeypatch.setattr("django.conf.settings.UPLOAD_MAX_BYTES", 1000)
    assert load(gzip.compress(b" " * 100_000), "jsonl").state == JobState.FAILED


def test_langsmith_table(load):
    text = (
        "inputs.question,output,metadata.difficulty,id\n"
        'Where?,"[{""name"": ""get_order"", ""args"": {""order_id"": ""A""}}]",easy,a\n'
        "Hello,Hi there,,b\n"
    )
    job = load(text.encode(), "langsmith_csv")
    assert job.report["added"] == 2
    gold = shown("a").gold
    assert gold is not None
    assert gold.expectation == Expectation.single("get_order", {"order_id": "A"}).to_document()
    assert problems(load(b"inputs,outputs\n{},\n[1],\n", "langsmith_csv")) == [(2, "/inputs"), (3, "/inputs")]


CELLS = st.lists(st.lists(st.text(alphabet='a",;\n\r\t é=', max_size=8), min_size=3, max_size=3), max_size=12)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=CELLS, size=st.sampled_from([1, 7, 30, 1000]))
def test_however_a_table_is_cut_its_parts_hold_the_same_records(rows, size):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b", "c"], *rows])
    file = io.BytesIO(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "PART_BYTES", size)
        parts = table_parts(file, ",")
    found = [cells for start, end in parts for _, cells in Records(file, start, end, ",")]
    assert [cells for cells in found if cells] == [["a", "b", "c"], *rows]


def test_a_preview_finds_delimiter_columns_and_first_rows():
    shown_table = preview(io.BytesIO(b"\xef\xbb\xbfa\t\tb\n1\t2\n3\t4\t5\t6\n"), 5)
    assert shown_table.delimiter == "\t"
    assert shown_table.columns == ["a", "column 2", "b"]
    assert shown_table.rows == [["1", "2", ""], ["3", "4", "5"]]
    with pytest.raises(InvalidDocument):
        preview(io.BytesIO(b""))
    with pytest.raises(InvalidDocument):
        preview(io.BytesIO(b"\xff\xfea\x00,\x00"))
