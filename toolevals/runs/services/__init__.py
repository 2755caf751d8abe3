"""Change agents, experiments, runs and gradings."""

from toolevals.runs.services.agents import agent_ensure, experiment_ensure
from toolevals.runs.services.baseline_agents import baseline_agents_start
from toolevals.runs.services.calibrating import (
    CalibrationRequest,
    calibration_begin,
    calibration_close,
    calibration_prepare,
    case_rate,
)
from toolevals.runs.services.case_grading import cases_grade
from toolevals.runs.services.case_judging import cases_judge
from toolevals.runs.services.drifting import drift_ask, drift_begin, drift_count
from toolevals.runs.services.gradings import grading_start, unscored_ask
from toolevals.runs.services.ingesting import transcripts_ingest
from toolevals.runs.services.judging import (
    JudgeRequest,
    judge_add,
    judge_change,
    layer_switch,
    rubric_add,
    rubric_use,
)
from toolevals.runs.services.probing import probes_ask, probes_begin
from toolevals.runs.services.recorded import RecordedImport, RecordedRequest, recorded_import
from toolevals.runs.services.remarks import note_add, tag_add, tag_remove
from toolevals.runs.services.repeating import errored_ask_again, failing_run_again
from toolevals.runs.services.requesting import (
    RunRequest,
    live_request_read,
    run_request_baseline,
    run_request_live,
    run_request_upload,
)
from toolevals.runs.services.rereading import (
    RereadingRequest,
    case_read,
    rereading_begin,
    rereading_cancel,
    rereading_close,
)
from toolevals.runs.services.rollups import grading_roll_up
from toolevals.runs.services.run_baseline import transcripts_produce
from toolevals.runs.services.run_conversations import transcripts_converse
from toolevals.runs.services.simulators import simulator_add, simulator_begin, simulator_choose, simulator_ensure
from toolevals.runs.services.starting import MAX_TRIALS, RunParts, run_converse, run_start, run_upload
from toolevals.runs.services.thumbs import thumb_give
from toolevals.runs.services.tryouts import TryoutRequest, tryout_ask, tryout_begin, tryout_draw

__all__ = [
    "MAX_TRIALS",
    "CalibrationRequest",
    "JudgeRequest",
    "RecordedImport",
    "RecordedRequest",
    "RereadingRequest",
    "RunParts",
    "RunRequest",
    "TryoutRequest",
    "agent_ensure",
    "baseline_agents_start",
    "calibration_begin",
    "calibration_close",
    "calibration_prepare",
    "case_rate",
    "case_read",
    "cases_grade",
    "cases_judge",
    "drift_ask",
    "drift_begin",
    "drift_count",
    "errored_ask_again",
    "experiment_ensure",
    "failing_run_again",
    "grading_roll_up",
    "grading_start",
    "judge_add",
    "judge_change",
    "layer_switch",
    "live_request_read",
    "note_add",
    "probes_ask",
    "probes_begin",
    "recorded_import",
    "rereading_begin",
    "rereading_cancel",
    "rereading_close",
    "rubric_add",
    "rubric_use",
    "run_converse",
    "run_request_baseline",
    "run_request_live",
    "run_request_upload",
    "run_start",
    "run_upload",
    "simulator_add",
    "simulator_begin",
    "simulator_choose",
    "simulator_ensure",
    "tag_add",
    "tag_remove",
    "thumb_give",
    "transcripts_converse",
    "transcripts_ingest",
    "transcripts_produce",
    "tryout_ask",
    "tryout_begin",
    "tryout_draw",
    "unscored_ask",
]
