"""Probes: cheap reward hacks tried on a judge and a rubric, each beside an honest twin.

=================  ================================================================================
``item``           a prompt with an honest good answer and an honest poor one; those that ship
``view``           what probes need to know of a rubric
``probe``          what a probe is
``table``          all probes, from ``empty``, ``decorated``, ``planted`` and ``honest``
``plan``           from items and probes to requests, and how many verdicts they take
``observe``        what one outcome says: the reward, what the judge alone gave, what stopped it
``decide``         from shifts to held, succeeded or unclear
``estimate``       what a run will take, before anything is asked
``shifts``         from the outcomes of a plan to what each attack earned more, item by item
``result``         from shifts to the results of the probes
``card``           the result as one model; ``shown`` makes a page of it
``run``            asks, a few at a time, up to a ceiling
=================  ================================================================================

Nothing here knows whether a service in this process or one over HTTP is asked.
"""
