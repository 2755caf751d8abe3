"""Tell people what came of their labels where someone decided otherwise."""
