"""Hold a project's policies: documents of the guard's rules, version by version, one of them in force."""
