"""Check arguments by a tool's JSON Schema, fast where it can be, and measure a schema by strict mode."""
