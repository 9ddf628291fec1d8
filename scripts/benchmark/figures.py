# SPDX-License-Identifier: GPL-2.0-only
"""From figures to judgements: medians, spreads, ratios, verdicts.

A ratio is always a cost: below 1 is better, whichever way the row's unit goes.
"""

import math
import statistics
from dataclasses import dataclass

from scipy.stats import mannwhitneyu

# With fewer passes than this no test of significance can say anything
ENOUGH = 4
# Below these a difference is not worth a word: of a few passes, of many
FLOOR_FEW = 0.02
FLOOR_MANY = 0.005


def spread(values):
    """How far the middle of the values reaches from the median, relative.

    Half the range of all values for a few, of the middle half for many.
    """
    median = statistics.median(values)
    if len(values) < 2 or not median:
        return 0.0
    if len(values) < ENOUGH:
        low, high = min(values), max(values)
    else:
        low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / abs(median)


def cost_ratio(base, value, better):
    """The cost of value against that of base; both zero is 1."""
    if better == "higher":
        base, value = value, base
    if base == value:
        return 1.0
    return value / base if base else math.inf


@dataclass
class Comparison:
    """One row on two kernels or in two reports."""

    ratio: float
    spread: float
    verdict: str  # better, worse, cannot tell

    def against(self, target):
        """met, near (the spread does not tell), or missed."""
        if self.ratio <= target:
            return "met"
        return "near" if self.ratio * (1 - self.spread) <= target else "missed"


def compare(base, values, better):
    """Compare the passes of one with those of the other."""
    ratio = cost_ratio(statistics.median(base), statistics.median(values), better)
    both = math.hypot(spread(base), spread(values))
    if min(len(base), len(values)) >= ENOUGH:
        apart = mannwhitneyu(base, values).pvalue < 0.05
        floor = FLOOR_MANY
    else:
        # one pass says nothing of the spread
        apart = len(base) > 1 < len(values) and (min(values) > max(base) or max(values) < min(base))
        floor = FLOOR_FEW
    if not apart or abs(ratio - 1) <= floor:
        return Comparison(ratio, both, "cannot tell")
    return Comparison(ratio, both, "better" if ratio < 1 else "worse")


def against_limit(values, limit):
    """met, near (some pass is), or missed."""
    if statistics.median(values) <= limit:
        return "met"
    return "near" if min(values) <= limit else "missed"


def disagreement(values):
    """How far the passes of one kernel are apart, relative to their median."""
    median = statistics.median(values)
    if len(values) < 2 or not median:
        return 0.0
    return (max(values) - min(values)) / abs(median)


def number(value):
    """A figure for people: three or four digits."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"
