#!/usr/bin/env bash
# Serve the reward of several dimensions on port 8000.
source "$(dirname "${BASH_SOURCE[0]}")/_start.sh"
start reward functions.reward.dimensions.AnswerReward
