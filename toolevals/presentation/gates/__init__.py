"""Writes a gate's result for those who read it: a text table, JUnit XML, Markdown for a pull request."""
