"""Lists the tools that are measured, and the rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scripts.dev.environment import ROOT

PEERS = ROOT / "benchmarks" / "peers"
OWN = ROOT / "benchmarks" / "side_by_side"
LABELLING, GRADING, EXECUTION = "labelling", "grading", "execution"


@dataclass(frozen=True, slots=True)
class Tool:
    """`key` names its adapter and its requirements.

    `lines` says that its import reads JSON Lines, not one list; `has_overlap`, that it counts people for each example.
    """

    key: str
    title: str
    kind: str
    folder: Path = PEERS
    lines: bool = True
    has_overlap: bool = True

    @property
    def is_ours(self) -> bool:
        """Return whether it runs in the Python of this process."""
        return self.folder == OWN

    @property
    def adapter(self) -> Path:
        """The file that the driver loads."""
        return self.folder / f"{self.key}.py"

    @property
    def requirements(self) -> Path:
        """The hashed requirements of its environment."""
        return PEERS / "requirements" / f"{self.key}.txt"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table: the step of ours and that of the others; `unit` is what its seconds are divided by."""

    title: str
    kind: str
    ours: str
    theirs: str
    unit: str


OURS = {kind: Tool(f"ours_{kind}", "toolevals", kind, OWN) for kind in (LABELLING, GRADING, EXECUTION)}
OTHERS = (
    Tool("label_studio", "Label Studio", LABELLING, lines=False),
    Tool("doccano", "doccano", LABELLING, has_overlap=False),
    Tool("bfcl", "the leaderboard's checker", GRADING),
    Tool("ai_evaluation", "ai-evaluation", GRADING),
    Tool("agentevals", "agentevals", GRADING),
    Tool("ragas", "Ragas", GRADING),
    Tool("deepeval", "DeepEval", GRADING),
    Tool("benchmark_way", "the benchmark's way", EXECUTION, OWN),
)
LINES = (
    Line("import", LABELLING, "take_in", "take_in", "example"),
    Line("next and submit", LABELLING, "label", "label", "label"),
    Line("export with two labels", LABELLING, "export", "export", "example"),
    Line("right answer, entry graded once", GRADING, "right_once", "right", "entry"),
    Line("wrong answer, entry graded once", GRADING, "wrong_once", "wrong", "entry"),
    Line("right answer, entry graded before", GRADING, "right", "right", "entry"),
    Line("wrong answer, entry graded before", GRADING, "wrong", "wrong", "entry"),
    Line("recorded trajectory with its gold", EXECUTION, "execute", "execute", "trajectory"),
)
OVERLAP = "two people for each example"
# What is left out on any machine, and why.
NEVER = (
    ("tau-bench", "is in no package index under a name of its own; its way is measured with this project's tools"),
    ("doccano", f"has no setting for {OVERLAP}: an example is labelled by all, or once together"),
)
