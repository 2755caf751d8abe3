"""Tell how one entry of each format becomes an example.

Values in, `ExampleRow` out, InvalidDocument where it is wrong.
"""
