"""Propose second looks at an agent's calls: what is proposed, who may look, and how often people go over."""
