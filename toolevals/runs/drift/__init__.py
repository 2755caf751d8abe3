"""Ask judges the same questions again, to see whether their answers change."""
