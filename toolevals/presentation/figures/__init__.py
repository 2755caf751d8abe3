"""Makes Plotly figures of plain values, with plotly's own validating classes. Nothing is computed here.

A chart is `{"data": [traces], "themes": {"light": {"traces": [...], "layout": {...}}, "dark": ...}}`: what each trace
and the layout need in one theme is laid over the traces when it is drawn, so that the data are sent once.

Names of tools are text that someone else wrote, and Plotly reads a few HTML tags in text: they are escaped. Axes are
numbers with names as tick labels, so that "2024" stays a name and equal labels stay apart.
"""

from toolevals.presentation.figures.curves import Curve, CurvePoint, curves
from toolevals.presentation.figures.heat_map import HeatCell, MarginRate, heat_map
from toolevals.presentation.figures.trend import TrendPoint, trend

__all__ = ["Curve", "CurvePoint", "HeatCell", "MarginRate", "TrendPoint", "curves", "heat_map", "trend"]
