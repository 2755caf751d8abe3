"""What a grading says, as plain frozen values. Pages, charts, CSV and API all show these, so they cannot disagree."""
