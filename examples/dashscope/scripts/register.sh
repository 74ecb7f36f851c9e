#!/usr/bin/env bash
# Register the functions and test their instances. Needs DASHSCOPE_API_KEY.
#
# Instances that are registered from the command line have an empty environment: their settings must
# stand in the class, as in functions/reward/helpfulness.py. register.py gives them an environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${DASHSCOPE_API_KEY:?export it first}"

dashscope rl register_functions \
	--rollout-classpaths "functions.rollout.ask.AskPolicy" \
	--reward-classpaths "functions.reward.helpfulness.HelpfulnessReward" \
	--group-reward-classpaths "functions.group_reward.judge.JudgeGroupRewardProcessor" \
	--no-lazy-load --output-format json

echo 'Then, with the instance ids printed above:'
echo '  dashscope rl test_functions "ro-ins-…" --type rollout --input resources/rollout_input.json'
echo '  dashscope rl test_functions "rw-ins-…" --type reward --input resources/reward_input.json'
echo '  dashscope rl test_functions "gr-ins-…" --type group_reward --input resources/group_reward_input.json'
