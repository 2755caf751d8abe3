"""The web server: gunicorn keeps the processes, waitress speaks HTTP in each, our limits keep slow clients harmless."""
