"""How a judge's answer is read."""
