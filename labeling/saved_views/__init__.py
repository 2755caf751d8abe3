"""Keep the lists of examples that a person opens again, by name."""
