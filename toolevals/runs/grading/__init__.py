"""Grade what agents did, keep the verdicts, and grade again."""
