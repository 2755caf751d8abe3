"""Other tools' verdicts, reproduced with their faults, so that old numbers can stand beside ours."""
