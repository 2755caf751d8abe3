"""Define the baseline, a small agent to compare scores with: it ranks words and copies values, and knows nothing.

It is deterministic: the same example, tools and options give the same transcript. See docs/runs.md.
"""

from toolevals.runs.baseline.agent import NAME, VERSION, BaselineOptions, respond

__all__ = ["NAME", "VERSION", "BaselineOptions", "respond"]
