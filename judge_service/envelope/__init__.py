"""What a judge is sent: two messages, with everything untrusted escaped and fenced."""
