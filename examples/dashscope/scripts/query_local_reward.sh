#!/usr/bin/env bash
# Score one agent output.
source "$(dirname "${BASH_SOURCE[0]}")/_query.sh"
query resources/reward_input.json
