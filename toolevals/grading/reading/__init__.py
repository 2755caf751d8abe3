"""Read what strangers wrote into plain values: transcripts, tool specs, examples, predictions and spans."""
