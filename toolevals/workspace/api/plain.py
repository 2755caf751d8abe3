"""Gives serializers of plain fields their base."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class PlainSerializer(serializers.Serializer[Any]):
    """Fields of no model."""
