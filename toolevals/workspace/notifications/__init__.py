"""Tells people and other programs what happened: by webhooks of a project, and by e-mail to its members."""
