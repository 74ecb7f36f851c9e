#!/usr/bin/env bash
# Serve the decorated reward on port 8000.
source "$(dirname "${BASH_SOURCE[0]}")/_start.sh"
export JUDGE_SERVICE_RUBRIC="${JUDGE_SERVICE_RUBRIC:-quick-look}"
start reward functions.reward.decorated.DecoratedReward
