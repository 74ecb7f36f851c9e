"""Expected scores from token probabilities."""
