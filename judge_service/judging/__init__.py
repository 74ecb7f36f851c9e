"""From verdicts to an outcome: panels, pairs, the reward."""
