"""Values are equal by what they hold, can be kept in sets, copied and pickled, and take no other field."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

from toolevals.grading.values.verdicts import Verdict


def test_a_value_is_what_it_holds():
    one, same, other = Verdict("passed", 1.0, "Yes."), Verdict("passed", 1.0, "Yes."), Verdict("failed", 0.0, "No.")
    assert one == same != other
    assert {one, same, other} == {one, other}
    assert replace(other, status="passed", value=1.0, reason="Yes.") == one
    assert (copy.deepcopy(one), pickle.loads(pickle.dumps(one))) == (one, one)


def test_a_value_takes_no_other_field():
    with pytest.raises(AttributeError):
        Verdict("passed").__setattr__("colour", "red")
