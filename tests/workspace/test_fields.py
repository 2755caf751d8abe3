"""Documents as they are kept."""

from __future__ import annotations

from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.values.canonical import Written, exact
from toolevals.workspace.fields import DocumentField


@given(json_values)
def test_a_document_that_is_written_already_is_kept_as_one_that_is_not(value):
    kept = DocumentField().get_prep_value(value)

    assert DocumentField().get_prep_value(None if value is None else Written(exact(value))) == kept
    assert DocumentField().from_db_value(kept, None, None) == value


def test_text_is_a_document_and_not_a_written_one():
    assert DocumentField().get_prep_value("[1]") == '"[1]"'
    assert DocumentField().get_prep_value(Written("[1]")) == "[1]"
