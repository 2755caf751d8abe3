"""Figures carry the values that they are given, in the colours of the page."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from toolevals.presentation.figures import HeatCell, TrendPoint, heat_map, trend
from toolevals.presentation.figures.heat_map import MOST_NUMBERED, heat_scale
from toolevals.presentation.palettes import PALETTES, STEPS

STYLESHEET = (Path(__file__).resolve().parents[2] / "static" / "css" / "app.css").read_text()


def tokens(theme: str) -> dict[str, str]:
    block = STYLESHEET.split(f'[data-bs-theme="{theme}"] {{', 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{3,6})", block))


def six_digits(colour: str) -> str:
    return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])


def mixed(colour: str, ground: str, share: float) -> str:
    """Return the colour that `color-mix(in srgb, colour share, ground)` gives."""
    pairs = zip(*(bytes.fromhex(each[1:]) for each in (colour, ground)), strict=True)
    return "#" + bytes(round(share * one + (1 - share) * other) for one, other in pairs).hex()


@pytest.mark.parametrize("theme", PALETTES)
def test_colours_are_the_tokens_of_the_stylesheet(theme):
    found = tokens(theme)
    for name, colour in PALETTES[theme].items():
        if name != "empty":
            assert colour == six_digits(found[name]), name


@pytest.mark.parametrize("theme", PALETTES)
def test_an_empty_cell_looks_as_in_the_table(theme):
    palette = PALETTES[theme]
    assert palette["empty"] == mixed(palette["sunken"], palette["surface"], 0.45)


def cell(row: int, column: int, step: str = "e1", text: str = "1") -> HeatCell:
    return HeatCell(row, column, step, text, ("expected a", "called <b>"))


def test_a_heat_map_holds_the_cells_that_it_was_given():
    chart = heat_map(["a", "b"], ["a", "b"], [cell(0, 0, "d3", "7"), cell(1, 0, "e5", "2"), cell(1, 1, "", "")])
    (trace,) = chart["data"]
    assert (trace["y"], trace["x"], trace["text"]) == ([0, 1, 1], [0, 0, 1], ["7", "2", ""])
    assert trace["z"] == [STEPS.index("d3") + 1, STEPS.index("e5") + 1, None]
    json.dumps(chart, allow_nan=False)


def test_names_and_hovers_are_escaped():
    chart = heat_map(["<script>"], ["<img src=x>"], [cell(0, 0)])
    text = json.dumps(chart)
    assert "<script>" not in text
    assert "<img" not in text
    assert chart["data"][0]["hovertext"] == ["expected a<br>called &lt;b&gt;"]


def test_a_long_name_is_cut_on_the_axis():
    chart = heat_map(["x" * 200], ["a"], [cell(0, 0)])
    assert len(chart["themes"]["light"]["layout"]["yaxis"]["ticktext"][0]) < 40


def test_many_columns_carry_no_numbers():
    columns = [str(number) for number in range(MOST_NUMBERED + 1)]
    assert "texttemplate" not in heat_map(["a"], columns, [cell(0, 0)])["data"][0]


@pytest.mark.parametrize("theme", PALETTES)
def test_each_step_has_one_colour_of_its_own(theme):
    scale = heat_scale(theme)
    assert [colour for _, colour in scale[::2]] == [colour for _, colour in scale[1::2]]
    assert len({colour for _, colour in scale}) == len(STEPS)
    assert (scale[0][0], scale[-1][0]) == (0, 1)


def points(*xs: int) -> list[TrendPoint]:
    return [TrendPoint(x, str(x), 80.0, 70.0, 90.0, ["run"]) for x in xs]


def test_segments_of_a_trend_are_not_joined():
    chart = trend([points(0, 1), points(2)], goal=95.0, token="layer-selection")
    lines = [trace for trace in chart["data"] if "hovertext" in trace]
    assert [line["x"] for line in lines] == [[0, 1], [2]]
    for theme in PALETTES:
        assert len(chart["themes"][theme]["traces"]) == len(chart["data"])


def test_a_trend_shows_its_goal_and_leaves_room_for_the_lowest_interval():
    chart = trend([points(0)], goal=95.0, token="ink")
    layout = chart["themes"]["dark"]["layout"]
    assert layout["shapes"][0]["y0"] == 95.0
    assert layout["yaxis"]["range"][0] < 70
    json.dumps(chart, allow_nan=False)


def test_the_words_of_a_change_stand_in_the_half_of_the_chart_where_its_run_does_not():
    low, high = (TrendPoint(x, str(x), value, value - 5, value + 5, ("",)) for x, value in ((0, 20.0), (1, 90.0)))
    changes = [(0, "model"), (1, "prompt"), (2, "tools")]
    chart = trend([[low, high]], goal=None, token="ink", changes=changes)
    words = chart["themes"]["light"]["layout"]["annotations"]
    assert [(each["text"], each["y"], each["yanchor"]) for each in words] == [
        ("model", 1, "top"),
        ("prompt", 0, "bottom"),
        ("tools", 0, "bottom"),
    ]


def test_the_words_of_changes_do_not_overlap_and_the_newest_is_said():
    points = [[TrendPoint(x, str(x), 50.0, 45, 55, ("",)) for x in range(64)]]
    changes = [(x, "agent, tools, prompt, model") for x in range(64)]
    drawn = trend(points, goal=None, token="ink", changes=changes)["themes"]["light"]["layout"]
    places = [each["x"] for each in drawn["annotations"]]
    assert places[-1] == 63
    assert {after - before for before, after in pairwise(places)} == {4}
    assert {each["text"] for each in drawn["annotations"]} == {"agent, tools, p…"}
    # Each change keeps its line.
    assert [shape["x0"] for shape in drawn["shapes"][:64]] == list(range(64))


def test_quotes_in_names_are_shown_as_they_are():
    chart = heat_map(['pay · "EUR"'], ["it's"], [cell(0, 0)])
    layout = chart["themes"]["dark"]["layout"]
    assert (layout["yaxis"]["ticktext"], layout["xaxis"]["ticktext"]) == (['pay · "EUR"'], ["it's"])
