"""Suggest preconditions for a policy, learnt from gold and traces, for a person to confirm."""
