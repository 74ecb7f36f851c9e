"""A candidate as it is judged: what is shown of it, what the rules check, what stands out."""
