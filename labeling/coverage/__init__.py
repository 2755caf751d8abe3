"""Tell what a dataset covers: which tools its gold expects, by edge case, error and stratum, and what is lacking."""
