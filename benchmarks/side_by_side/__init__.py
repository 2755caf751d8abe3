"""Compares this project and other tools on the same inputs, in turns, in one table: `./dev bench side-by-side`."""

from benchmarks.side_by_side.command import main

__all__ = ["main"]
