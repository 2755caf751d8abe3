"""Holds a small file for each format of messages; `toolevals.grading.reading.parsing.format_table` lists them."""
