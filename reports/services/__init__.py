"""Write gates; the sweeper knows `gate_previews_forget` by this place."""

from reports.gates.services import gate_previews_forget

__all__ = ["gate_previews_forget"]
