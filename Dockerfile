# The image of every process of toolevals; compose.yaml starts them. docs/deployment.md says how.
FROM python:3.13-slim-trixie AS build
WORKDIR /source
COPY requirements requirements
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements/uv.txt -r requirements/build.txt
RUN python -m venv --without-pip /opt/toolevals \
    && uv pip sync --require-hashes --compile-bytecode --python /opt/toolevals/bin/python requirements/run.txt
COPY . .
RUN pip wheel --no-build-isolation --no-deps --no-index --wheel-dir /wheels . \
    && uv pip install --no-deps --no-index --compile-bytecode --python /opt/toolevals/bin/python /wheels/*.whl

FROM python:3.13-slim-trixie
# A backup needs pg_dump, in the version of the server. A release of Debian has one version of a package.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 10001 --home-dir /var/lib/toolevals toolevals \
    && install --directory --owner toolevals --group toolevals --mode 0700 /var/lib/toolevals /backups
COPY --from=build /opt/toolevals /opt/toolevals
ENV PATH=/opt/toolevals/bin:$PATH \
    DJANGO_SETTINGS_MODULE=toolevals.settings \
    TOOLEVALS_DATA_DIR=/var/lib/toolevals/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MALLOC_ARENA_MAX=2
WORKDIR /var/lib/toolevals
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["gunicorn", "--config", "python:toolevals.serving.options", "--bind", "0.0.0.0:8000"]
