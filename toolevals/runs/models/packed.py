"""Store what every case of a grading came to, packed: two gradings are compared without reading their cases."""

from __future__ import annotations

from django.db import models

from toolevals.runs.models.gradings import Grading
from toolevals.workspace.fields import DocumentField


class PackedCases(models.Model):
    """The cases of a finished grading as numbers: see `counts.packed_cases`. It follows from the cases."""

    grading = models.OneToOneField(Grading, on_delete=models.CASCADE, primary_key=True, related_name="packed")
    # What the numbers stand for: `{"verdicts": [...], "cells": [[expected, actual], ...]}`.
    document = DocumentField()
    # Unsigned 32 bits each, little-endian, zlib.
    numbers = models.BinaryField()
    # Of runs with several trials, their examples: see `counts.outcome_patterns`. Null until the first look at one from
    # before they were kept.
    patterns = models.BinaryField(null=True)
    # What comparing asks of all runs' outcomes and of their places: see `counts.outcome_patterns` and
    # `counts.place_kinds`. Null until the first look at one from before they were kept.
    outcomes = models.BinaryField(null=True)
    kinds = models.BinaryField(null=True)
