"""Work out figures of a grading as plain values. Pages, charts, CSV and API all show these, so they cannot disagree."""
