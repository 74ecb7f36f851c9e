# Sourced by the start scripts: the SDK's own server with one of this workspace's functions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=".${PYTHONPATH:+:$PYTHONPATH}"
export SERVER_PORT="${SERVER_PORT:-8000}" WORKERS_COUNT="${WORKERS_COUNT:-1}"
export JUDGE_SERVICE_URL="${JUDGE_SERVICE_URL:-http://127.0.0.1:8080}"

start() { # function type, class
	export FUNC_TYPE="$1" PROCESSOR_CLASS="$2"
	exec "${PYTHON:-python3}" -m dashscope.finetune.reinforcement.component.server.server
}
