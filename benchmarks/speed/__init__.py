"""The speed table: one module per row, each with a command of its own."""
