#!/usr/bin/env bash
# Let the policy answer once.
source "$(dirname "${BASH_SOURCE[0]}")/_query.sh"
query resources/rollout_input.json
