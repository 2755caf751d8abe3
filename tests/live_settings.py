"""The product's settings for an application under test: passwords are hashed at once, not in half a second each.

Accounts with the product's own hashes sign in as well.
"""

from __future__ import annotations

from django.conf.global_settings import PASSWORD_HASHERS as USUAL

from toolevals.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *USUAL]
