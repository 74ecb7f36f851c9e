"""What judges' verdicts show of their biases: from results on disk, or from live traffic.

=================  ================================================================================
``record``         one pair in both orders, one answer's points: what the measures read
``figure``         a number with interval and method, or the reason why there is none
``position``       does the answer shown first, or last, gain?
``length``         does the longer answer gain, and what is left once that is taken out?
``style``          do markup and emoji gain at equal length?
``own_family``     does a judge prefer its own kin more than other judges do?
``stability``      does a judge say the same when it is asked again?
``report``         the report, one model for HTTP, files and terminals
``results``        outcomes as batches write them, made records
``live``, ``board``  what a running service remembers, and tells its other processes
``page``, ``shown``  the report as text, Markdown and HTML
=================  ================================================================================
"""
