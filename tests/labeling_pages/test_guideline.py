"""A guideline: headings, lists, names, and nothing that becomes HTML."""

from __future__ import annotations

from labeling.guidelines.blocks import guideline_blocks


def test_blocks():
    blocks = guideline_blocks("# Dates\nOne line\nand the next.\n\nAnother.\n- a `name`\n* b\n")
    assert [(block.kind, ["".join(span.text for span in line) for line in block.lines]) for block in blocks] == [
        ("h", ["Dates"]),
        ("p", ["One line and the next."]),
        ("p", ["Another."]),
        ("ul", ["a name", "b"]),
    ]
    assert [span.name for span in blocks[3].lines[0]] == [False, True]


def test_an_odd_backtick_is_a_character():
    (block,) = guideline_blocks("`a` and `b")
    assert "".join(span.text for span in block.lines[0]) == "a and `b"


def test_nothing_gives_nothing():
    assert guideline_blocks(" \n\n") == []
