"""One question to one judge: attempts, retries, and the seam to the models."""
