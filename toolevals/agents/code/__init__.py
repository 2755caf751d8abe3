"""Simulators that are Python code: run in a process of its own, in a sandbox unless the code is trusted."""

from toolevals.agents.code.children import Death
from toolevals.agents.code.launching import Limits, NoSandboxError, require_sandbox
from toolevals.agents.code.simulator import CodeSimulator, tools_of_code

__all__ = ["CodeSimulator", "Death", "Limits", "NoSandboxError", "require_sandbox", "tools_of_code"]
