"""Lets owners of the installation see its settings, and change some while it runs."""
