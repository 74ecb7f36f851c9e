#!/usr/bin/env bash
# Score a group of agent outputs.
source "$(dirname "${BASH_SOURCE[0]}")/_query.sh"
query resources/group_reward_input.json
