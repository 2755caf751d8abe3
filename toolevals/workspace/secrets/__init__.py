"""Keeps what agents need to reach their models, encrypted."""
