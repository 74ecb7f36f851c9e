"""A judge's way in: breaker, queue, concurrency, rates and the retry budget."""
