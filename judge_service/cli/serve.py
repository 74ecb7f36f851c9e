"""``judge-service serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge_service.cli.configuration import setting, settings_of
from judge_service.cli.terminal import waiting


def serve(
    host: Annotated[
        str | None, setting("--host", var="HOST", text="Address to listen on.", default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None,
        setting("--port", var="PORT", text="Port to listen on, 0 for a free one.", default="8080"),
    ] = None,
    workers: Annotated[
        int | None, setting("--workers", var="WORKERS", text="Processes.", default="1")
    ] = None,
    judges: Annotated[
        Path | None,
        setting("--judges-file", "--judges", var="JUDGES", text="The file of judges.",
                default="judges.toml if there is one, else the embedded trial model"),
    ] = None,
    rubrics_dir: Annotated[
        Path | None,
        setting("--rubrics-dir", var="RUBRICS_DIR", text="Folder of rubrics.",
                default="the shipped ones"),
    ] = None,
    anchors_dir: Annotated[
        Path | None,
        setting("--anchors-dir", var="ANCHORS_DIR", text="Folder of anchors.",
                default="the shipped ones"),
    ] = None,
    rule_modules: Annotated[
        list[str] | None,
        setting("--rule-modules", var="RULE_MODULES",
                text="Modules that rubrics may take rules from; repeat it, or use commas."),
    ] = None,
    require_family: Annotated[
        bool | None,
        setting("--require-family", var="REQUIRE_FAMILY",
                text="Refuse candidates whose family is not known."),
    ] = None,
    embedded_judge: Annotated[
        bool | None,
        setting("--embedded-judge", var="EMBEDDED_JUDGE",
                text="Let the small trial model judge even where judges are expected."),
    ] = None,
    local_model: Annotated[
        Path | None,
        setting("--local-model", var="LOCAL_MODEL", text="GGUF file of the embedded judge.",
                default="SmolLM2-135M-Instruct"),
    ] = None,
    local_model_family: Annotated[
        str | None,
        setting("--local-model-family", var="LOCAL_MODEL_FAMILY",
                text="Family of that file, where its name does not tell."),
    ] = None,
    api_keys_file: Annotated[
        Path | None,
        setting("--api-keys-file", var="API_KEYS_FILE", panel="Access",
                text="TOML file of callers' keys. Without one, only this machine may call."),
    ] = None,
    allow_unauthenticated: Annotated[
        bool | None,
        setting("--allow-unauthenticated", panel="Access",
                var="ALLOW_UNAUTHENTICATED",
                text="Listen on another address without keys all the same."),
    ] = None,
    secret: Annotated[
        str | None,
        setting("--secret", var="SECRET", panel="Access",
                text="Secret that authenticates kept verdicts and peppers key hashes. Prefer the "
                "variable: other users of this machine can see flags.",
                default="made at the first start and kept beside the store"),
    ] = None,
    secret_previous: Annotated[
        str | None,
        setting("--secret-previous", var="SECRET_PREVIOUS", panel="Access",
                text="The secret before, still accepted for reading."),
    ] = None,
    redis_url: Annotated[
        str | None,
        setting("--redis-url", var="REDIS_URL", panel="Storage",
                text="Redis that replicas share: verdict cache, limits, quotas. Needs a secret."),
    ] = None,
    store: Annotated[
        Path | None,
        setting("--store", var="STORE", panel="Storage",
                text="File of the embedded store, used without Redis.",
                default="below the user's state folder"),
    ] = None,
    cache_ttl_s: Annotated[
        int | None,
        setting("--cache-ttl-s", var="CACHE_TTL_S", panel="Storage", default="2592000, 30 days",
                text="Seconds a verdict is kept."),
    ] = None,
    share_cache: Annotated[
        bool | None,
        setting("--share-cache", var="SHARE_CACHE", panel="Storage",
                text="Let all tenants use each other's kept verdicts."),
    ] = None,
    max_queue: Annotated[
        int | None,
        setting("--max-queue", var="MAX_QUEUE", default="256",
                text="Calls that may wait for a judge; more are turned away."),
    ] = None,
    allow_rubric_put: Annotated[
        bool | None,
        setting("--allow-rubric-put", var="ALLOW_RUBRIC_PUT", panel="Access",
                text="Let admin keys change rubrics over HTTP."),
    ] = None,
    log_level: Annotated[
        str | None,
        setting("--log-level", var="LOG_LEVEL", panel="Logs", default="info",
                text="debug, info, warning or error."),
    ] = None,
    log_format: Annotated[
        str | None,
        setting("--log-format", var="LOG_FORMAT", panel="Logs",
                default="auto: text on a terminal, else json", text="json, text or auto."),
    ] = None,
    log_texts: Annotated[
        bool | None,
        setting("--log-texts", var="LOG_TEXTS", panel="Logs",
                text="Let texts appear in logs, not only their hashes."),
    ] = None,
    otel: Annotated[
        bool | None,
        setting("--otel", var="OTEL", panel="Logs",
                text="Send traces by OpenTelemetry, where the OTEL_* variables say. Needs the "
                "extra 'otel'."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say in one line of JSON that it is ready, and where.")
    ] = False,
) -> None:  # fmt: skip
    """Run the service. It says when it is ready, where it listens, and what to try next.

    Every setting is a flag or an environment variable; the flag wins. Ctrl-C ends it.

    [bold]Examples[/bold]

    judge-service serve

    judge-service serve --judges-file judges.toml --port 9000

    judge-service serve --host 0.0.0.0 --api-keys-file keys.toml --workers 4
    """
    flags = {name: value for name, value in locals().items() if name != "as_json"}
    settings, environ = settings_of(flags, listens=True)
    with waiting("making the judges ready …") as over:
        from judge_service.cli.server import run_service

        run_service(settings, environ, as_json=as_json, ready=over)
