"""A connection to PostgreSQL says what kind of work comes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def shown(opened: Any, setting: str) -> str:
    with opened.cursor() as cursor:
        cursor.execute(f"SHOW {setting}")
        return str(cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("setting", "value"), [("jit", "off"), ("plan_cache_mode", "force_generic_plan"), ("random_page_cost", "1.1")]
)
def test_postgresql_plans_for_short_reads(setting, value):
    assert shown(connection, setting) == value


def test_a_cost_of_random_reads_that_is_not_the_default_stays():
    other: Any = connection.copy()
    other.settings_dict = other.settings_dict | {
        "OPTIONS": other.settings_dict["OPTIONS"] | {"options": "-c random_page_cost=3"}
    }
    try:
        assert shown(other, "random_page_cost") == "3"
        assert shown(other, "jit") == "off"
    finally:
        other.close()
