# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark suite: workloads.py says what is measured, runner.py runs it,
figures.py judges, report.py and plots.py show. scripts/bench.py is the command.
"""
