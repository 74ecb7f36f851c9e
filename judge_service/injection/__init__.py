"""What stands out in a candidate: texts that address or imitate the judge."""
