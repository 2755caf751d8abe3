"""Show scores on public benchmarks, published ones and those of runs here, next to an agent's runs."""
