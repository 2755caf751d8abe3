"""Ask judges about transcripts with and without texts that speak to them."""
