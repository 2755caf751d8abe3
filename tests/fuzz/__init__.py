"""Fuzzing: arbitrary bytes for every parser and grader. Bounded in the suite, longer by `python -m tests.fuzz`."""
