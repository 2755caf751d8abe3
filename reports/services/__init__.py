"""Write gates; the sweeper knows `gate_previews_forget` by this place."""

from reports.services.gate_previews import gate_previews_forget

__all__ = ["gate_previews_forget"]
