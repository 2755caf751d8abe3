"""Draft edge cases from existing examples: other words of the user, and the gold that follows from them."""

from labeling.proposals.drafts import Draft, drafts_of

__all__ = ["Draft", "drafts_of"]
