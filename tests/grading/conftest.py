"""Laws are checked without a clock: how long one draw takes says nothing on a busy machine."""

from hypothesis import settings

settings.register_profile("core", deadline=None, max_examples=80)
settings.load_profile("core")
