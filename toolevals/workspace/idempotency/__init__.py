"""Lets requests be sent again without doing anything twice."""
