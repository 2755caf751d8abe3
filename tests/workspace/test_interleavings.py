"""Whatever workers do and whenever they die: in the end each batch was done exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import JobCancelled, Lease, LeaseLost, lease_claim
from toolevals.workspace.jobs.services import BatchPlan, JobStateError, batch_fail, job_cancel, job_create, job_retry
from toolevals.workspace.models import Batch, BatchState, Job, JobState

from .tasks import effects, leave_effect, lost

BATCHES, WORKERS = 4, 3
STEPS = ("claim", "claim", "write", "finish", "finish", "crash", "overdue", "fail", "cancel", "retry")


@dataclass
class World:
    """Some workers, what each of them believes to hold, and what they added to a running total."""

    job: Job
    held: dict[int, Lease] = field(default_factory=dict)

    def step(self, name: str, worker: int, which: int) -> None:
        """Let one thing happen. What is impossible now does nothing."""
        lease = self.held.get(worker)
        if name == "claim":
            self.claim(worker, which)
        elif name == "overdue":
            Batch.objects.filter(pk=self.batch(which).pk).update(due_at=database_now() - timedelta(seconds=1))
        elif name in ("cancel", "retry"):
            self.control(name)
        elif lease is not None:
            self.use(name, worker, lease)

    def batch(self, which: int) -> Batch:
        return Batch.objects.filter(job=self.job).order_by("stage", "number")[which - 1]

    def claim(self, worker: int, which: int) -> None:
        lease = lease_claim(str(self.batch(which).pk))
        if lease is not None:
            self.held[worker] = lease

    def control(self, name: str) -> None:
        try:
            (job_cancel if name == "cancel" else job_retry)(job=self.job, actor=None)
        except JobStateError:
            return

    def use(self, name: str, worker: int, lease: Lease) -> None:
        if name == "crash":
            del self.held[worker]
            return
        try:
            if name == "write":
                lease.progress(1)
            elif name == "fail":
                batch_fail(lease.batch, lease.token, "no luck", again=True)
            else:
                with lease.finish():
                    leave_effect(lease)
                    lease.report({"done": 1})
        except (LeaseLost, JobCancelled):
            del self.held[worker]

    def settle(self) -> None:
        """Bring the job to its end with one worker that does not die."""
        self.control("retry")
        for _ in range(BATCHES):
            Batch.objects.filter(job=self.job).update(due_at=database_now() - timedelta(seconds=1))
            # Those whose lease ran out wait for a moment, and are found again.
            for batch in Batch.objects.due(database_now()):
                if batch.state == BatchState.LEASED:
                    lost(batch.pk)
                lease = lease_claim(str(batch.pk))
                assert lease is not None
                with lease.finish():
                    leave_effect(lease)
                    lease.report({"done": 1})
        self.job.refresh_from_db()


@pytest.mark.django_db
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(1, WORKERS), st.integers(1, BATCHES)), min_size=5, max_size=40
    )
)
def test_each_batch_is_done_exactly_once(project, steps):
    with transaction.atomic():
        plans = [BatchPlan("tests.work", {}, stage=number // 2) for number in range(BATCHES)]
        world = World(job_create(project=project, actor=None, kind="test", title="A test", batches=plans))
        for step in steps:
            world.step(*step)
        world.settle()
        batches = list(Batch.objects.filter(job=world.job))
        assert world.job.state == JobState.SUCCEEDED
        assert {batch.state for batch in batches} == {BatchState.DONE}
        assert sorted(effects()) == sorted(batch.pk for batch in batches)
        assert world.job.report == {"done": BATCHES}
        second_stage = {batch.pk for batch in batches if batch.stage == 1}
        assert set(effects()[-2:]) == second_stage
        transaction.set_rollback(True)
