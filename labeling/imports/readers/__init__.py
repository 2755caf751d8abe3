"""How one entry of each format becomes an example: values in, `ExampleRow` out, InvalidDocument where it is wrong."""
