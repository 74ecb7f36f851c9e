#!/usr/bin/env bash
# Serve the rollout function on port 8000.
source "$(dirname "${BASH_SOURCE[0]}")/_start.sh"
start rollout functions.rollout.ask.AskPolicy
