"""Read runs, transcripts and grades, by name."""
