#!/usr/bin/env bash
# Makes sure that tests have a redis-server: the one on PATH, else Debian's, else a copy of
# Debian's in .venv/redis where this user may not install. Starts nothing. Safe to run again.
set -euo pipefail

VENV="${VENV:-.venv}"
OWN="$VENV/redis"

works() { "$1" --version >/dev/null 2>&1; }

fail() {
  echo "Tests need redis-server and it could not be had: $1" >&2
  echo "Install it (Debian: apt-get install redis-server), or put one on PATH, and try again." >&2
  exit 1
}

# With root's rights, or sudo's where it asks for no password.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

install_system() {
  # Debian starts a service it installs, unless this file says no. One that is there stays.
  local policy=/usr/sbin/policy-rc.d
  local ours=""
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    ours=yes
  fi
  local result=0
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends redis-server >&2 || result=$?
  [ -z "$ours" ] || as_root rm -f "$policy"
  return "$result"
}

unpack_own() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
  local folder
  folder="$(mktemp -d)"
  # Where nobody has read the package lists yet, a copy of them does.
  download "$folder" || { own_lists "$folder" && download "$folder"; } || {
    rm -rf "$folder"
    return 1
  }
  mkdir -p "$OWN/bin"
  local deb
  for deb in "$folder"/*.deb; do dpkg -x "$deb" "$OWN"; done
  rm -rf "$folder"
  # The unpacked program finds the unpacked libraries.
  local root libraries
  root="$(cd "$OWN" && pwd)"
  libraries="$(find "$root" -name '*.so.*' -printf '%h\n' | sort -u | paste -sd:)"
  printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s/usr/bin/redis-server" "$@"\n' \
    "$libraries" "$root" >"$root/bin/redis-server"
  chmod 755 "$root/bin/redis-server"
}

apt_options=()

download() {
  local package
  (cd "$1" && apt-get "${apt_options[@]}" download -q redis-server redis-tools >&2) || return 1
  # What the program is linked with; most machines have it, and names differ between releases.
  for package in libjemalloc2 liblzf1 libatomic1; do
    (cd "$1" && apt-get "${apt_options[@]}" download -q "$package" >/dev/null 2>&1) || true
  done
}

own_lists() {
  mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial"
  apt_options=(-o "Dir::State::Lists=$1/state/lists" -o "Dir::Cache=$1/cache")
  apt-get "${apt_options[@]}" update -q >&2
}

found="$(command -v redis-server || true)"
if [ -n "$found" ]; then
  works "$found" || fail "$found is there and does not run"
  exit 0
fi
if [ -x "$OWN/bin/redis-server" ] && works "$OWN/bin/redis-server"; then exit 0; fi

if may_install; then
  echo "Installing redis-server, which the tests need" >&2
  if ! install_system; then
    as_root apt-get update -q >&2 || fail "apt-get update failed"
    install_system || fail "apt-get could not install it"
  fi
  command -v redis-server >/dev/null || fail "it was installed and is still not on PATH"
else
  echo "Unpacking redis-server into $OWN, as this user may not install it" >&2
  unpack_own || fail "apt-get could not download it"
  works "$OWN/bin/redis-server" || fail "the unpacked program does not run"
fi
