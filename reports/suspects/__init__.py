"""Find examples whose gold the evidence contradicts: collect, count, keep and list the evidence."""
