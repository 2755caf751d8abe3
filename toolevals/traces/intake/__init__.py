"""Takes traces in: OTLP over HTTP, read, checked and cut into what is stored."""
