"""Test what changed in the registry, beside a comparison: the first tools in sight, the others folded."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string


@pytest.mark.parametrize(("count", "folded"), [(1, 0), (6, 0), (7, 1), (12, 6)])
def test_six_changed_tools_are_in_sight_and_all_are_there(count: int, folded: int):
    changes = [
        SimpleNamespace(
            change=SimpleNamespace(name=f"tool_{number}", kind="changed", description=(), arguments=(), beside=()),
            moved=None,
        )
        for number in range(count)
    ]
    run = SimpleNamespace(number=1)
    context = {"registry": changes, "project": SimpleNamespace(slug="shop"), "before": run, "after": run}
    page = render_to_string("reports/parts/compare_registry.html", context)
    seen, _, rest = page.partition("<details")
    assert re.findall(r"tool_\d+", seen + rest) == [f"tool_{number}" for number in range(count)]
    assert len(re.findall(r"tool_\d+", rest)) == folded
    assert (f"{folded} more tool" in page) == (folded > 0)
    assert page.count("<div") == page.count("</div>")
    assert page.count("<details") == page.count("</details>")
