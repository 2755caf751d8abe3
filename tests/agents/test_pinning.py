"""Test which models' names stand for one snapshot."""

from __future__ import annotations

import pytest

from toolevals.agents.judge import is_pinned


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o-2024-08-06",
        "claude-sonnet-4-20250514",
        "gpt-4-0613",
        "mistral-large-2411",
        "anthropic.claude-3-5-sonnet-20240620-v1:0",
        "llama3@sha256:3f9c2ab14d5e6f708192a3b4c5d6e7f8",
        "org/model@3f9c2ab14d5e6f708192",
    ],
)
def test_a_date_or_a_hash_pins_a_model(model):
    assert is_pinned(model)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o",
        "claude-sonnet-4",
        "model-latest",
        "model-2026-01-31:latest",
        "llama-3.1-8b",
        "a-20261340",
        "m-9999",
        "",
    ],
)
def test_everything_else_is_an_alias(model):
    assert not is_pinned(model)
