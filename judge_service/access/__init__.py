"""Who may call, and how much: keys, scopes, tenants, quotas."""
