"""Serves the web: gunicorn keeps processes, waitress speaks HTTP in each, our limits keep slow clients harmless."""
