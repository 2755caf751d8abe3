"""Scores on public benchmarks: what others have published and what runs here came to, beside an agent's runs."""
