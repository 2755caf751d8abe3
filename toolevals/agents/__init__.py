"""Drives agents: connects agents, simulated tools and users, and the loop between them, on plain values.

No Django, no database: what decides, keeps and pays stands in `toolevals.runs`.
"""
