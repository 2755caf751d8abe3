"""The project's commands, in the standard library alone: they make the environment that everything else runs in."""
