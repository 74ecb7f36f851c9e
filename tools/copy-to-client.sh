#!/usr/bin/env bash
# Copies into the client what it shares with the service, which it never imports: files that need
# the standard library only, of the client's oldest Python, too, and name each other relatively.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cp judge_service/candidate/{chat_template_table,chat_turns,role}.py clients/src/judge_client/vendor/
