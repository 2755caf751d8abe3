"""Reads files that other tools write of examples and of what agents did: decodes them and tells them apart by content.

`decoding` turns bytes into a document, `formats` is the table of what is known, each other file reads one format.
"""
