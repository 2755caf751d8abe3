"""Keep what people think of judges' verdicts, as thumbs."""
