"""Statistics of paired labels, with intervals: what drift runs, gold sets and bias reports share.

Every estimate is an ``Estimate`` (a value and its 95 % interval) or None where the statistic has
no meaning; NaN never leaves this package. Intervals of shares are Wilson's; all others come from
one seeded bootstrap over items, or over whole clusters of items where these hang together.

=================  ================================================================================
``estimate``       ``Estimate`` and ``TestResult``, the two kinds of results
``rates``          a share with Wilson's interval, the difference of two paired shares
``bootstrap``      ``Bootstrap``: seeded weights, intervals from replicates, one-sided shares
``agreement``      exact agreement, Cohen's kappa (plain and weighted), the kappa paradox
``correlation``    Spearman, Kendall (tau-b), Pearson
``shift``          mean shift, mean difference, Wilcoxon's signed-rank test
``homogeneity``    McNemar's and Stuart and Maxwell's tests
``holm``           Holm's correction for several tests
=================  ================================================================================

SciPy is imported inside functions only: it takes half a second and 60 MB that a service does
without.
"""
