"""Runs that ask a subject while they last: what they are told, and the conversations."""
