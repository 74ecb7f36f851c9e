# Two stages: dependencies by hash, then a small image that runs as nobody in particular.
# Where you build, name the base by its digest, too:
#   docker build --build-arg BASE=python:3.12-slim-bookworm@sha256:… .
# Made to be run with a read-only root and nothing granted:
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     --stop-timeout 40 -p 8080:8080 -v judge-service:/var/lib/judge-service \
#     -v ./config:/etc/judge-service:ro -e JUDGE_SERVICE_API_KEYS_FILE=keys.toml …
ARG BASE=python:3.12-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
COPY requirements.lock build.lock local-model.lock ./
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
      -r requirements.lock -r build.lock -r local-model.lock
COPY pyproject.toml README.md LICENSE ./
COPY judge_service judge_service
COPY rubrics rubrics
COPY anchors anchors
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${BASE}
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LITELLM_LOCAL_MODEL_COST_MAP=True \
    XDG_STATE_HOME=/var/lib \
    JUDGE_SERVICE_HOST=0.0.0.0 \
    JUDGE_SERVICE_PORT=8080
COPY --from=build /opt/venv /opt/venv
# The user has no login, no shell and no home; it owns the one folder that holds state. What is set
# here by XDG_STATE_HOME is only a default: where the folder cannot be written, the service says so
# and keeps nothing. JUDGE_SERVICE_STORE names a file that must be writable.
RUN useradd --system --uid 10001 --user-group --shell /usr/sbin/nologin \
      --home-dir /nonexistent --no-create-home judge \
 && install -d -o judge -g judge -m 700 /var/lib/judge-service \
 && install -d -m 755 /etc/judge-service
USER 10001
VOLUME /var/lib/judge-service
# judges.toml and whatever else is configured is looked for here.
WORKDIR /etc/judge-service
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["python", "-c", \
  "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['JUDGE_SERVICE_PORT'] + '/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
# Listening on all addresses needs JUDGE_SERVICE_API_KEYS_FILE (or --allow-unauthenticated).
ENTRYPOINT ["judge-service"]
CMD ["serve"]
