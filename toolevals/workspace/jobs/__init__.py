"""Keeps the work queue: jobs are split into batches, which are rows that workers lease.

The database is the truth and the broker only a doorbell. A message names a batch that may be due; the worker that hears
it claims that batch by a conditional update, and writes only while its lease holds. Why: docs/decisions/0010.
"""
