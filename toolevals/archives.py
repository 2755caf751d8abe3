"""What a zip that somebody sends may be."""

import zipfile
import zlib

# What reading one raises that is damaged, cut short, needs a password (RuntimeError) or is packed in a way that is not
# known here (NotImplementedError).
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
