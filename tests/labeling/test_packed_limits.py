"""A small file that unpacks to much, or that holds much to read, is refused before it costs anything."""

from __future__ import annotations

import gzip
import io

import pytest

from labeling.imports import gzip_files
from labeling.imports.formats import MOST_EMPTY, source_of
from labeling.imports.gzip_files import ALWAYS_UNPACKED, MOST_TIMES, pieces_of, plain_copy, unpacked, unpacked_limit
from labeling.imports.tables import Records
from toolevals.grading.values import yaml_documents
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.yaml_documents import load_yaml
from toolevals.runs.files.recorded_files import result_document
from toolevals.runs.simulators.contents import content_read


def test_a_file_may_unpack_to_a_hundred_times_its_size_and_no_more():
    assert unpacked_limit(10) == ALWAYS_UNPACKED
    assert unpacked_limit(ALWAYS_UNPACKED) == MOST_TIMES * ALWAYS_UNPACKED
    packed = io.BytesIO(gzip.compress(b"{}\n" * 1_000_000))
    with (
        pytest.raises(InvalidDocument, match="unpacks to more than 2,000,000 bytes"),
        plain_copy(pieces_of(packed), 2_000_000),
    ):
        raise AssertionError("nothing is read")


def test_a_file_of_empty_lines_is_refused_without_reading_all_of_it():
    packed = io.BytesIO(gzip.compress(b"\n" * 200_000_000, 1))
    with pytest.raises(InvalidDocument, match="of empty lines"):
        source_of(packed)
    assert packed.tell() < len(packed.getvalue()) or MOST_EMPTY > 200_000_000


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"", b"\0"),
        (b"", b"a"),
        (b"id,input,expected_tool\n", b"a"),
        (b'id,input\n"', b"a\n"),
        (b'{"id": "', b"a"),
        (b"[", b" "),
    ],
)
def test_what_grows_is_refused_by_each_that_reads_it_within_its_limit(monkeypatch, begin, piece):
    monkeypatch.setattr(gzip_files, "ALWAYS_UNPACKED", 2 * MEGABYTE)
    monkeypatch.setattr(gzip_files, "MOST_TIMES", 2)
    content = begin + piece * (30 * MEGABYTE // len(piece))
    packed = gzip.compress(content, 1)
    for read in (preview_of, lambda file: list(pieces_of(file)), lambda file: result_document(file.read())):
        with pytest.raises(InvalidDocument, match="unpacks to more than 2,000,000 bytes"):
            read(io.BytesIO(packed))


def preview_of(file: io.BytesIO) -> None:
    """Read as much of a table as a page shows, and then each of its lines."""
    with unpacked(file) as plain:
        for _ in Records(plain, 0, None, ","):
            pass


@pytest.mark.parametrize("piece", [b"\0", b"a"])
def test_a_first_line_without_end_is_refused_before_the_rest_is_unpacked(piece):
    packed = io.BytesIO(gzip.compress(piece * 400 * MEGABYTE, 1))
    with pytest.raises(InvalidDocument, match="is not JSON, and its first line is longer than 4,000,000 bytes"):
        source_of(packed)
    assert packed.tell() < len(packed.getvalue()) / 10


def test_yaml_of_too_many_values_is_refused_while_it_is_read(monkeypatch):
    monkeypatch.setattr(yaml_documents, "MAX_VALUES", 10)
    assert load_yaml("- a\n" * 9) == ["a"] * 9
    with pytest.raises(InvalidDocument, match="line 10, column 3: more than 10 values: convert it to JSON"):
        load_yaml("- a\n" * 10 + "[")


@pytest.mark.parametrize("name", ["a" * 300 + ".py", "folder/" + "a" * 101])
def test_a_long_name_of_a_simulators_file_is_refused_at_once(name):
    with pytest.raises(InvalidDocument, match="names up to 100 characters"):
        content_read("code", {"files": {"simulator.py": "", name: ""}})
