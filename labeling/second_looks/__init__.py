"""Second looks at an agent's proposals: what is proposed, who may look, and how often people go over."""
