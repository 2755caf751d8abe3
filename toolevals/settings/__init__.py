"""Reads the settings from the environment; every variable is described in docs/operating.md."""

from __future__ import annotations

import atexit
import gc
import re
from pathlib import Path
from typing import Any

import django_stubs_ext
from django.conf import global_settings
from kombu import Queue

from toolevals.serving.folders import data_folder, pages_folder, version_number
from toolevals.settings.audit import AUDIT_PAST as AUDIT_PAST
from toolevals.settings.audit import AUDIT_PHRASES as AUDIT_PHRASES
from toolevals.settings.audit import AUDIT_THINGS as AUDIT_THINGS
from toolevals.settings.databases import databases
from toolevals.settings.environment import environment, log_format, path_prefix, sentry_dsn
from toolevals.settings.help import HELP as HELP
from toolevals.settings.navigation import ASSIGNED as ASSIGNED
from toolevals.settings.navigation import COUNTED as COUNTED
from toolevals.settings.navigation import HOME_COUNTED as HOME_COUNTED
from toolevals.settings.navigation import HOME_LOOK as HOME_LOOK
from toolevals.settings.navigation import HOME_NEWS as HOME_NEWS
from toolevals.settings.navigation import HOME_NOTES as HOME_NOTES
from toolevals.settings.navigation import HOME_PANES as HOME_PANES
from toolevals.settings.navigation import HOME_WAITING as HOME_WAITING
from toolevals.settings.navigation import MENTIONED_IN as MENTIONED_IN
from toolevals.settings.navigation import NAVIGATION as NAVIGATION
from toolevals.settings.navigation import SEARCHED as SEARCHED
from toolevals.settings.navigation import SUBNAVIGATION as SUBNAVIGATION
from toolevals.settings.people import PERSON_ROWS as PERSON_ROWS
from toolevals.settings.people import PERSON_TEXTS as PERSON_TEXTS
from toolevals.settings.people import SECRET_COLUMNS as SECRET_COLUMNS
from toolevals.settings.private_files import keep_private, secret_key
from toolevals.settings.rest import REST_FRAMEWORK as REST_FRAMEWORK
from toolevals.settings.rest import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from toolevals.settings.sign_in import *  # noqa: F403 - each is a setting of django-allauth
from toolevals.settings.sign_in import sign_on
from toolevals.settings.uploads import uploads_storage

# New objects between two searches for garbage: Python's 700 take a third of a grading's time, and of a start's.
gc.set_threshold(50_000)
# A process that ends would search all that is loaded, for seconds.
atexit.register(gc.freeze)
django_stubs_ext.monkeypatch()
env = environment()

PACKAGE = Path(__file__).resolve().parent.parent
PAGES = pages_folder()
DATA_DIR = Path(env.str("DATA_DIR", "") or data_folder()).resolve()

keep_private(DATA_DIR)

DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "") or secret_key(DATA_DIR)
# Keys that were in force before: what they signed and sealed is still taken.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
# The path below which a proxy serves the application: every address that it writes begins so. "" is none.
PATH_PREFIX = path_prefix(env.str("PATH_PREFIX", ""))
FORCE_SCRIPT_NAME = PATH_PREFIX or None
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
ROOT_URLCONF = "toolevals.urls"
WSGI_APPLICATION = "toolevals.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "toolevals.workspace",
    "toolevals.registry",
    "labeling",
    "toolevals.runs",
    "toolevals.traces",
    "reports",
    "toolevals.sample",
    "toolevals.mcp_server",
]

MIDDLEWARE = [
    "toolevals.workspace.monitoring.middleware.RequestMiddleware",
    "toolevals.workspace.middleware.HeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "toolevals.workspace.middleware.CompressionMiddleware",
    "toolevals.workspace.middleware.NoStoreMiddleware",
    "csp.middleware.CSPMiddleware",
    "toolevals.traces.middleware.StatusMiddleware",
    "toolevals.workspace.old_names.OldNamesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "toolevals.workspace.middleware.HostMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "toolevals.workspace.middleware.AccessMiddleware",
    "toolevals.workspace.bodies.BodyMiddleware",
    "toolevals.workspace.middleware.NulMiddleware",
]

_LOADERS = [
    "toolevals.settings.packed_templates.PackedLoader",
    "django.template.loaders.app_directories.Loader",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PAGES / "templates"],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", _LOADERS)],
            "builtins": ["toolevals.workspace.templatetags.explain", "toolevals.workspace.templatetags.subnav"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "toolevals.workspace.navigation.workspace",
            ],
        },
    }
]

DATABASES = databases(env, DATA_DIR)
# A streaming replica for reports: rooms whose pages and answers are read there, and seconds that one waits for it to
# have what the primary has.
REPLICA_ROOMS = ("reports",)
REPLICA_WAIT_SECONDS = env.float("REPLICA_WAIT_SECONDS", 1.0)
if "replica" in DATABASES:
    DATABASE_ROUTERS = ["toolevals.workspace.replica.ReplicaRouter"]
    # It calls the view.
    MIDDLEWARE += ["toolevals.workspace.replica.ReplicaMiddleware"]
# The usual hasher, and those whose hashes are still read.
PASSWORD_HASHERS = ["toolevals.workspace.accounts.hashing.BoundedPasswordHasher", *global_settings.PASSWORD_HASHERS[1:]]
# Passwords that a process of the web server hashes at once, so that its other threads are free.
PASSWORDS_AT_ONCE = env.int("PASSWORDS_AT_ONCE", 2)
AUTH_USER_MODEL = "workspace.User"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "workspace:home"
LOGOUT_REDIRECT_URL = "account_login"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "mailbox", "name")},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# The providers of single sign-on; the part of each is loaded by who comes that way.
SIGN_ON = sign_on(env)
SOCIALACCOUNT_PROVIDERS = {
    name: {"APPS": [SIGN_ON[each]] if each in SIGN_ON else []}
    for each, name in (("oidc", "openid_connect"), ("saml", "saml"))
}
# Who comes by single sign-on with a verified address of these domains, and has no account, gets one.
SIGN_ON_DOMAINS = env.list("SIGN_ON_DOMAINS", default=[])

LANGUAGE_CODE = "en"
TIME_ZONE = env.str("TZ_NAME", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = f"{PATH_PREFIX}/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [PAGES / "static"]
# All of it is ours: what packages bring for pages that are not served here stays out.
STATICFILES_FINDERS = ["toolevals.settings.static_files.PackedFinder"]
MEDIA_ROOT = DATA_DIR / "uploads"
# On the disk of the uploads, so that a file that has arrived is only renamed; with S3 it is sent on from there.
FILE_UPLOAD_TEMP_DIR = MEDIA_ROOT / "arriving"
# What people send is for the server alone.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
STORAGES = {
    "default": uploads_storage(env),
    "staticfiles": {"BACKEND": "toolevals.settings.static_files.HashedStaticFiles"},
}

# No inline script, no inline style, no exception.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
HTTPS_ONLY = env.bool("HTTPS_ONLY", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS_ONLY
# Seconds for which browsers that came by HTTPS come by nothing else.
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", 0)
# Pages ask for none of these; other sites read no answer, and embed none but a badge.
PERMISSIONS_POLICY = "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()"
RESOURCE_POLICY = "same-origin"
# Probes and scrapers ask a process by its own address and without TLS.
ASKED_BY_ADDRESS = ("/healthz", "/metrics", "/readyz")
SECURE_REDIRECT_EXEMPT = [f"^{re.escape(f'{PATH_PREFIX}{path}'.lstrip('/'))}$" for path in ASKED_BY_ADDRESS]
# Trust what the proxy in front says about the scheme and the client's address.
BEHIND_PROXY = env.bool("BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
CSRF_FAILURE_VIEW = "toolevals.workspace.errors.csrf_failed"
SESSION_ENGINE = "toolevals.workspace.accounts.session_storage"
SESSION_COOKIE_AGE = 14 * 24 * 3600
# A browser sends the cookies of "/" to every path below it: so each prefix has names of its own.
COOKIE_SUFFIX = PATH_PREFIX.replace("/", "~")
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"sessionid{COOKIE_SUFFIX}", f"csrftoken{COOKIE_SUFFIX}"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = PATH_PREFIX or "/"
MESSAGE_STORAGE = "toolevals.workspace.accounts.session_storage.MessageStorage"
# A form without its files.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
# A document of tools has a box to tick for each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
# A JSON document of the REST interface: a simulator's files are the largest.
DOCUMENT_MAX_BYTES = env.int("DOCUMENT_MAX_BYTES", 64 * 1024 * 1024)
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", 1024 * 1024 * 1024)
# What people send to one project, and what is written for it, until it is deleted.
PROJECT_FILES_MAX_BYTES = env.int("PROJECT_FILES_MAX_BYTES", 20 * 1024 * 1024 * 1024)
# So much of the disk is left to the database: uploads that would take it are refused.
DISK_RESERVE_BYTES = env.int("DISK_RESERVE_BYTES", 256 * 1024 * 1024)

# Backups that `toolevals serve` makes before upgrades of SQLite, and keeps; 0 makes none.
UPGRADE_BACKUPS = env.int("UPGRADE_BACKUPS", 3)

# The database is the truth and the broker only a doorbell: see docs/decisions.
REDIS_URL = env.str("REDIS_URL", "")
CELERY_BROKER_URL = REDIS_URL or "memory://localhost"
CELERY_BROKER_TRANSPORT = "toolevals.workspace.jobs.broker:Transport" if REDIS_URL else "memory"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    # A request that rings must not hang on a broker that is away.
    {
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 30,
        # A worker that serves several queues takes from the first that holds anything.
        "queue_order_strategy": "priority",
    }
    if REDIS_URL
    else {"polling_interval": 0.05}
)
# As in toolevals.workspace.models.Queue: quick work before the slow.
CELERY_TASK_QUEUES = [Queue(name, routing_key=name) for name in ("io", "grade", "judge", "agent")]
CELERY_TASK_DEFAULT_QUEUE = "io"
# With the in-memory broker, a worker is one process: it does a batch at a time, and more workers do more. A pool there
# shares one pipe, whose lock dies with the process that holds it.
CELERY_WORKER_POOL = "prefork" if REDIS_URL else "solo"
CELERY_WORKER_CONSUMER = "toolevals.workspace.jobs.consumer:Consumer"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]

# Who makes projects, and who invites people to those that they own: see toolevals.workspace.access.
WHO_MAKES_PROJECTS = env.str("WHO_MAKES_PROJECTS", "installation-owners")
WHO_INVITES = env.str("WHO_INVITES", "installation-owners")

# Private networks that agents, simulators and judges may be called in, such as "10.0.0.0/8"; "*" is all.
AGENT_NETWORKS = env.list("AGENT_NETWORKS", default=[])

# Where people reach the installation, such as "https://evals.example.org": messages link to its pages.
PUBLIC_URL = env.str("PUBLIC_URL", "")
# The mail server, such as "smtp+tls://user:password@mail.example.org:587"; "" sends no e-mail. And who it is from.
EMAIL_URL = env.str("EMAIL_URL", "")
if EMAIL_URL:
    vars().update(env.email_url("EMAIL_URL"))
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "toolevals@localhost")
EMAIL_TIMEOUT = 20
# What the weekly digest tells of a project: `(project) -> (sentence, path)`, of a higher room.
DIGEST_NOTE = "reports.digest.queries.digest_note"

# Commands that start MCP servers on this machine, as a shell would take them: only these are run.
MCP_COMMANDS = env.list("MCP_COMMANDS", default=[])

# Code of simulators that runs without a sandbox, by the digest that its page shows; "*" is all of it.
TRUSTED_SIMULATORS = env.list("TRUSTED_SIMULATORS", default=[])
# Folders of code that is our own, and trusted.
SHIPPED_SIMULATORS = [PACKAGE / "sample" / "data" / "simulator"]
SIMULATOR_MEMORY_MB = env.int("SIMULATOR_MEMORY_MB", 512)
# Of processor time for each call; by the clock, twice as many.
SIMULATOR_SECONDS = env.float("SIMULATOR_SECONDS", 10.0)

# Seconds that a worker may stay silent on a batch before another may take it.
BATCH_LEASE_SECONDS = env.int("BATCH_LEASE_SECONDS", 60)
BATCH_MAX_ATTEMPTS = env.int("BATCH_MAX_ATTEMPTS", 4)
# Seconds after which a batch that is still at work counts as hung.
BATCH_MAX_SECONDS = env.int("BATCH_MAX_SECONDS", 3600)
# Seconds between two rounds of the sweeper. Without a broker it is the only doorbell.
SWEEP_SECONDS = env.float("SWEEP_SECONDS", 5.0 if REDIS_URL else 0.25)
# The sweeper's regular duties: a function of the time -> seconds between two calls. The database keeps
# when each ran last, by its path.
SWEEP_TASKS: dict[str, float] = {
    "toolevals.workspace.jobs.sweeper.sign_of_life": 15,
    "labeling.adjudicate.resolution.settle_due": 5,
    "labeling.imports.publish_import.imports_sweep": 10,
    "toolevals.runs.baseline.starting.baseline_agents_due": 60,
    "labeling.batches.ordering.deficits_order": 300,
    "labeling.batches.services.assignments_free": 300,
    "reports.issues.gathering.issues_due": 2,
    "reports.gates.services.gate_previews_forget": 3600,
    "reports.tool_drift.services.sources_due": 5,
    "toolevals.workspace.uploads.services.uploads_forget": 3600,
    "toolevals.workspace.jobs.files.job_files_forget": 3600,
    "toolevals.workspace.uploads.services.stray_files_sweep": 3600,
    "toolevals.workspace.accounts.services.sessions_forget": 3600,
    "toolevals.workspace.accounts.services.sign_in_failures_forget": 3600,
    "toolevals.workspace.notifications.sending.deliveries_due": 2,
    "toolevals.workspace.notifications.sending.deliveries_forget": 3600,
    "toolevals.workspace.notifications.regular.regular_due": 300,
    "labeling.datasets.decided.datasets_done": 30,
    "toolevals.workspace.idempotency.models.idempotency_keys_forget": 3600,
    "toolevals.registry.guard_checks.counting.guard_counts_forget": 3600,
    "toolevals.registry.guard_checks.days.guard_days_forget": 3600,
    "toolevals.workspace.trash.services.trash_sweep": 15,
    "toolevals.traces.tasks.traces_due": 2,
    "toolevals.traces.tasks.questions_due": 2,
    "toolevals.traces.production.trace_hours.trace_hours_count": 60,
    "toolevals.traces.intake.retention.traces_forget": 600,
    "toolevals.traces.promotion.schedules.promotions_due": 60,
}
# What owners can delete: see `toolevals.workspace.trash.kinds`. In this order it is destroyed.
TRASH_KINDS = (
    "toolevals.runs.trash.Runs",
    "toolevals.runs.trash.Datasets",
    "toolevals.runs.trash.Registries",
    "toolevals.traces.trash.Projects",
)
# What higher rooms withhold in the audit log for now, and what they do when a member's role changes or ends: see
# `toolevals.workspace.audit.models` and `toolevals.workspace.projects.services`.
AUDIT_WITHHELD = ("labeling.audit.undecided",)
# What owners must not read yet: see `toolevals.workspace.projects.export`.
STILL_BLIND = ("labeling.audit.still_blind", "toolevals.runs.judge_calibrations.services.still_blind")
MEMBER_CHANGED = ("labeling.label.services.places_release",)
# What higher rooms make of a trace's failures in the transaction that sums it up: `toolevals.traces.reading.services`.
TRACE_FAILURES = ("reports.issues.gathering.trace_gather",)
# One batch of traces: packed as it comes, and unpacked.
TRACES_MAX_BYTES = env.int("TRACES_MAX_BYTES", 16 * 1024 * 1024)
TRACES_MAX_UNPACKED_BYTES = env.int("TRACES_MAX_UNPACKED_BYTES", 64 * 1024 * 1024)
# Of one project, in each process of the web server.
TRACES_SPANS_PER_SECOND = env.int("TRACES_SPANS_PER_SECOND", 4_000)
# Batches that a process of the web server takes at once, so that its other threads are free for people.
TRACES_AT_ONCE = env.int("TRACES_AT_ONCE", 4)
# One trace, before it is packed.
TRACE_MAX_SPANS = env.int("TRACE_MAX_SPANS", 20_000)
TRACE_MAX_BYTES = env.int("TRACE_MAX_BYTES", 64 * 1024 * 1024)
# Seconds without anything new after which a trace is summed up: once its root has ended, and while it has not come.
TRACES_QUIET_SECONDS = env.float("TRACES_QUIET_SECONDS", 5.0)
TRACES_ROOTLESS_SECONDS = env.float("TRACES_ROOTLESS_SECONDS", 60.0)
# Rows of a CSV file that are sent while someone waits; a longer one is offered from the background.
CSV_ROWS_AT_ONCE = env.int("CSV_ROWS_AT_ONCE", 50_000)
# Seconds that a reviewer holds a label slot without a sign of life.
SLOT_LEASE_SECONDS = env.int("SLOT_LEASE_SECONDS", 30 * 60)

# Who shows this token reads /metrics; without it, only this machine does where no proxy is in front.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
# Errors of the web server and the workers are sent there; "" is nowhere.
SENTRY_DSN = sentry_dsn(env.str("SENTRY_DSN", ""))
RELEASE = f"toolevals@{version_number()}" if SENTRY_DSN else ""
# "text", or "json": an object a line, with the ids of the request, the job and the run that it is about.
LOG_FORMAT = log_format(env.str("LOG_FORMAT", "text"))
# Each act in the audit log is a line of the log, too, once it is stored.
AUDIT_LOG = env.bool("AUDIT_LOG", False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(message)s"},
        "json": {"()": "toolevals.workspace.monitoring.json_log.JsonFormatter"},
    },
    "filters": {
        "links": {"()": "toolevals.workspace.log_filters.LinkFilter"},
        "outages": {"()": "toolevals.workspace.log_filters.OutageFilter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["outages"], "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "WARNING")},
    # Those that name the address that was asked for: an invitation's link lets in the person who has it.
    "loggers": {
        **{name: {"filters": ["links"]} for name in ("django.request", "django.security.csrf")},
        "toolevals.audit": {"level": "INFO"},
        "django.server": {"filters": ["links"], "handlers": ["console"], "level": "INFO", "propagate": False},
    },
}
# What the environment was asked for: the page of settings lists it.
SETTINGS_ASKED = env.asked
