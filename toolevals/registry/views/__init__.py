"""Shows the pages of registries and their versions."""
