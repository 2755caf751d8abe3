"""Lets programs ask the guard: by REST, or by a signed policy file that they decide by themselves."""
