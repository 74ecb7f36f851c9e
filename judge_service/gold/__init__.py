"""Gold sets: human-labelled items, read, checked, converted from public forms, and written."""
