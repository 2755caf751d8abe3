"""The agents that solve each example, over any number of runs."""
