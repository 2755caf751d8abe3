"""Docstrings of tools in the usual styles: what they say of the tool and of its parameters."""

from __future__ import annotations

from typing import Annotated

import pytest

from toolevals.sdk.specs import read_docstring, spec_of

GOOGLE = """Return an order.

    It may be old,
    or new.

    - first
    - second

    Args:
        order_id (str): The order's number:
            as printed.
        limit: How many.

    Returns:
        dict: The order.

    Raises:
        KeyError: There is none.
    """
NUMPY = """Return an order.

    It may be old,
    or new.

    - first
    - second

    Parameters
    ----------
    order_id : str
        The order's number:
        as printed.
    limit : int, optional
        How many.

    Returns
    -------
    dict
        The order.
    """
SPHINX = """Return an order.

    It may be old,
    or new.

    - first
    - second

    :param str order_id: The order's number:
        as printed.
    :param limit: How many.
    :type limit: int
    :returns: The order.
    :raises KeyError: There is none.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_describe_the_tool_and_its_parameters(text: str) -> None:
    said = read_docstring(text)
    assert said.description == "Return an order.\n\nIt may be old, or new.\n\n- first\n- second"
    assert said.parameters == {"order_id": "The order's number: as printed.", "limit": "How many."}

    def get_order(order_id: str, limit: Annotated[int, "At most"] = 3) -> None: ...

    get_order.__doc__ = text
    spec = spec_of(get_order)
    assert spec.description == said.description
    # What stands beside the parameter is nearer to it.
    assert spec.input_schema["properties"]["limit"]["description"] == "At most"
    assert spec.input_schema["properties"]["order_id"]["description"] == "The order's number: as printed."


@pytest.mark.parametrize(
    "text", [None, "", "One line.", "Note: this stays.", "Args:", "Parameters\n---", ":param", "a\n\n\n\nb"]
)
def test_odd_docstrings_are_read(text: str | None) -> None:
    assert read_docstring(text).parameters == {}


def test_a_docstring_that_describes_what_is_not_taken_warns() -> None:
    def get(order: str) -> None:
        """Return.

        Args:
            ordr: The order.
        """

    with pytest.warns(UserWarning, match="get: its docstring describes ordr, which it does not take"):
        spec_of(get)
