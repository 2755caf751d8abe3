"""Names of classes where there is little room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolevals.presentation.numbers import short


def test_names_that_begin_alike_differ_when_they_are_cut() -> None:
    names = [f"acme_enterprise_resource_planning_service_{act}_invoice" for act in ("approve", "cancel", "create")]
    cut = [short(name, 28) for name in names]
    assert len(set(cut)) == 3
    assert cut[1] == "acme_ente…ice_cancel_invoice"


def test_what_divides_a_class_is_not_cut() -> None:
    assert short("create_a_return_of_an_order_of_a_customer · wrong", 28).endswith("customer · wrong")


@given(st.text(min_size=1), st.integers(min_value=4, max_value=60))
def test_a_label_is_no_longer_than_it_may_be(name: str, longest: int) -> None:
    cut = short(name, longest)
    assert len(cut) <= longest
    assert (cut == name) == (len(name) <= longest)
