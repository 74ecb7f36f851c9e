"""Items for people to look at blind: chosen, written to a sheet, and read back as gold.

=============  ====================================================================================
``seen``       an item with what judges made of it
``of_runs``    seen items of a file of drift runs
``of_results`` seen items of a batch and its results
``pick``       the highest, the lowest, the most changed, the inconsistent, and some at random
``key``        what the sheet hides: which item is which, which side is which, and what judges said
``sheet``      what reviewers get: texts and blank labels, as CSV or JSONL
``labels``     what reviewers wrote
``gold``       labels put into gold items
``guide``      the questions and points, as a page for reviewers
=============  ====================================================================================
"""
