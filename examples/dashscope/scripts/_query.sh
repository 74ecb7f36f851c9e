# Sourced by the query scripts: sends a file to the local server, as the platform would.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

query() { # input file
	curl --silent --show-error --noproxy '*' --max-time "${TIMEOUT_S:-300}" \
		"http://127.0.0.1:${SERVER_PORT:-8000}/api/v1" \
		-H 'Content-Type: application/json' --data-binary "@$1"
	echo
}
