"""A subset of the fault suite that ends within a minute, and tests of the suite itself."""
