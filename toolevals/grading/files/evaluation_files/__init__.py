"""Files that other tools write of examples and of what agents did: decoded, told apart by content, and read.

`decoding` turns bytes into a document, `formats` is the table of what is known, each other file reads one format.
"""
