"""Pages of registries and their versions."""
