"""Reads calls in the forms that models are trained to write. A form is one small reader and one row in the table."""
