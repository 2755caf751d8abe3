"""Keep where a registry's tools come from, and look there for what changed."""
