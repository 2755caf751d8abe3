"""A serializer that is kept for all requests says and takes what a new one does."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from toolevals.workspace.api.serializers import shown, valid_data


class Note(serializers.Serializer[Any]):
    """A text with a number of stars."""

    text = serializers.CharField()
    stars = serializers.IntegerField(default=0, max_value=5)


def test_a_kept_serializer_shows_and_takes_what_a_new_one_does():
    for said in ({"text": "one"}, {"text": "two", "stars": 3}):
        new = Note(data=said)
        assert new.is_valid()
        assert valid_data(Note, said) == new.validated_data
        assert shown(Note, new.validated_data) == Note(new.validated_data).data


@pytest.mark.parametrize("said", [{}, {"text": "one", "stars": 6}, [], "text", None])
def test_a_kept_serializer_refuses_in_the_words_of_a_new_one(said):
    with pytest.raises(ValidationError) as by_new:
        Note(data=said).is_valid(raise_exception=True)
    with pytest.raises(ValidationError) as by_kept:
        valid_data(Note, said)
    assert by_kept.value.detail == by_new.value.detail
