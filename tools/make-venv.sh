#!/usr/bin/env bash
# Makes the virtual environment; where Debian left out the venv module, fetches it.
set -euo pipefail

if ! command -v "$PYTHON" >/dev/null; then
  echo "There is no $PYTHON here; install Python 3.11 or newer, or say make PYTHON=/path/to/python" >&2
  exit 1
fi
if ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "$("$PYTHON" --version) is too old: Python 3.11 or newer is needed (make PYTHON=…)" >&2
  exit 1
fi
[ -x "$VENV/bin/pip" ] && exit 0
rm -rf "$VENV"
if ! "$PYTHON" -m venv "$VENV" 2>/dev/null || [ ! -x "$VENV/bin/pip" ]; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  echo "Installing python3-venv, which $PYTHON lacks" >&2
  $sudo apt-get update -q
  $sudo apt-get install -y -q python3-venv
  rm -rf "$VENV"
  "$PYTHON" -m venv "$VENV"
fi
