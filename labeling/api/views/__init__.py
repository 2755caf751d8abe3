"""Serve the REST interface of labelling: each view reads the request, calls one service, answers."""
