"""Watching live traffic: alarms from statistics, sentinel items, and a shadow judge.

Nothing in here can change a reward: it is told of outcomes when they are there already.

===============  ===================================================================================
``settings``     the ``[watch]`` table of ``judges.toml``
``arl``          average run lengths of CUSUM and EWMA charts, and the limits that give them
``cusum``        Page's chart of a mean, two-sided
``ewma``         Roberts' chart of a mean
``bernoulli``    the CUSUM of a share
``baseline``     what was so when watching began
``chart``        one statistic under watch: baseline, CUSUM and EWMA, raised and cleared
``statistic``    the statistics that there are: name, unit, least deviation
``alarm``        an alarm as it is told
``place``        the charts of a judge, a rubric and a kind of request
``desk``         all charts of one process
``observed``     from an outcome to observations
``prompts``      which prompts have been counted lately, and how they scored
``product``      a correlation: rule score and model score, score and length
``failures``     failed outcomes by cause, prompt and length
``served``       the names that providers give their models, and (``configurations``) what else
                 they say of what answered
``names``        what charts are called in the store
``board``        charts in the store: over restarts, and for other processes to see
``usual``        what was learnt, shared by all processes
``resets``       what is learnt anew, by all of them
``keepsake``     what else goes over a restart: figures of sentinels and shadow
``bill``         what sentinels and shadows cost, and their ceiling of a day
``background``   asking judges while nobody waits for them
``sentinel``     items of gold sets among live traffic
``shadow``       another family asked what was asked
``watcher``      all of it together
===============  ===================================================================================
"""
