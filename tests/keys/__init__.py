"""API keys, quotas and secrets, as callers and operators meet them."""
