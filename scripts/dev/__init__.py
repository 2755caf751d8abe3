"""Runs the project's commands with the standard library alone: they make the environment for everything else."""
