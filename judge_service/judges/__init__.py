"""Who may judge, and who does."""
