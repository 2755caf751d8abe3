"""Say what the labelling pages enter: an expectation as a form made from the offered tools' schemas, or as raw JSON."""
