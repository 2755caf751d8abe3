"""Change agents, experiments, runs and gradings."""
