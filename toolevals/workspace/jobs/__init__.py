"""Keeps the work queue: jobs are split into batches, which are rows that workers lease.

The database is the truth and the broker only a doorbell. A message names a batch that may be due; the worker that hears
it claims that batch by a conditional update, and writes only while its lease holds. Why: docs/decisions/0010.
"""

from toolevals.workspace.jobs.control import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.jobs.creation import BatchPlan, job_add_batches, job_create
from toolevals.workspace.jobs.leases import JobCancelled, Lease, LeaseLost, MustGiveWay
from toolevals.workspace.jobs.work import BatchRefused, batch_work

__all__ = [
    "BatchPlan",
    "BatchRefused",
    "JobCancelled",
    "JobStateError",
    "Lease",
    "LeaseLost",
    "MustGiveWay",
    "batch_work",
    "job_add_batches",
    "job_cancel",
    "job_create",
    "job_pause",
    "job_resume",
    "job_retry",
]
