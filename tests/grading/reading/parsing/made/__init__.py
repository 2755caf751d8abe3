"""One small conversation as each library writes it, and the scripts that make the files anew."""
