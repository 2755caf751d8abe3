"""Runs simulators that are Python code in a process of its own, in a sandbox unless the code is trusted."""

from toolevals.agents.code.launching import Limits, NoSandboxError, require_sandbox
from toolevals.agents.code.simulator import CodeSimulator, Death, files_in, tools_of_code

__all__ = ["CodeSimulator", "Death", "Limits", "NoSandboxError", "files_in", "require_sandbox", "tools_of_code"]
