"""Grade a case: compile an expectation once, decide each verdict, and explain it when asked."""
