#!/usr/bin/env bash
# Serve the reward function on port 8000.
source "$(dirname "${BASH_SOURCE[0]}")/_start.sh"
export JUDGE_SERVICE_RUBRIC="${JUDGE_SERVICE_RUBRIC:-quick-look}"
start reward functions.reward.judge.JudgeRewardProcessor
