# SPDX-License-Identifier: GPL-2.0-only
"""The format in which tests tell of their results, as kselftest and KUnit use it."""

import re


def tap_lines(text):
    """The results in a TAP text: (status, description)."""
    for line in text.splitlines():
        if match := re.match(r"\s*(ok|not ok) \d+ ?-? ?(.*)$", line):
            skipped = re.search(r"# SKIP", match[2])
            yield "skip" if skipped else match[1], match[2]
