"""`./dev bench side-by-side`: this project and other tools on the same inputs, in turns, in one table."""

from benchmarks.side_by_side.command import main

__all__ = ["main"]
