"""Failure issues: what failed in runs, gathered into named problems that people own, fix and accept."""
