"""Show what can be done with a job, from its own page or from that of what it works on."""

from __future__ import annotations

from typing import Final

from django.contrib import messages

from toolevals.workspace.jobs import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest

# By the last word of their addresses.
JOB_ACTS: Final = {"cancel": job_cancel, "pause": job_pause, "resume": job_resume, "retry": job_retry}


def job_act(request: ProjectRequest, job: Job, act: str) -> None:
    """Do with the job what the act is; where its state does not allow that, tell who asked."""
    try:
        JOB_ACTS[act](job=job, actor=request.user)
    except JobStateError as error:
        messages.error(request, str(error))
