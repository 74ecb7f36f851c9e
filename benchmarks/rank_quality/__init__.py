"""What a group's ranking is worth for how many calls, on simulated judges.

``make rank-quality`` prints it. The service's own schedule, tables, fits and lists are used; only
the judges are made up.
"""
