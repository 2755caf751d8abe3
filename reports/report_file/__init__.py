"""Write a run as one HTML file that opens without a server."""
