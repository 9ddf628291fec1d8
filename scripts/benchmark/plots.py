# SPDX-License-Identifier: GPL-2.0-only
"""The plots of a report, each as SVG and PNG."""

import statistics

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from . import figures  # noqa: E402
from .report import row_of  # noqa: E402
from .workloads import LOADS, WORKLOADS  # noqa: E402


def save(figure, directory, name):
    figure.tight_layout()
    for kind in ("svg", "png"):
        # no date inside: the same figures give the same file
        figure.savefig(directory / f"{name}.{kind}", metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)


# Better and worse than the first kernel; each further kernel is lighter than the one before
BETTER = ["#1a7f37", "#57ab5a", "#8ddb8c", "#c3f0c0"]
WORSE = ["#b62324", "#e5534b", "#ff938a", "#ffc1bc"]
# A row that is 0 against something else, or the other way, counts as so many times better or worse
MOST = 10


def costs(report, kernel):
    """For each workload: its judged rows, and what they cost on a kernel against the first one."""
    base, workloads = report["kernels"][0]["name"], {}
    for name, values in report["rows"].items():
        if row_of(name).better and base in values and kernel in values:
            result = figures.compare(values[base], values[kernel], row_of(name).better)
            workloads.setdefault(name.partition("/")[0], {})[name] = result
    return workloads


def bounded(ratio):
    return min(max(ratio, 1 / MOST), MOST)


def costs_of_others(report):
    """The name of the first kernel; and for each other one its costs."""
    base, *others = [kernel["name"] for kernel in report["kernels"]]
    return base, {kernel: costs(report, kernel) for kernel in others}


def bars(axes, places, height, ratios, index, kernel):
    """Bars from 1 to both sides, with the figure at the end."""
    values = [bounded(ratio) for ratio in ratios]
    colours = [(BETTER if value <= 1 else WORSE)[index % len(BETTER)] for value in values]
    axes.barh(places, [value - 1 for value in values], height, left=1, color=colours, edgecolor="white", linewidth=0.3)
    for place, value, ratio in zip(places, values, ratios, strict=True):
        left = value <= 1
        text = f"{figures.number(ratio)} {kernel} " if left else f" {figures.number(ratio)} {kernel}"
        axes.text(value, place, text, va="center", ha="right" if left else "left", fontsize=5)


def finish_bars(axes, base, what):
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(0.5 / MOST, 2 * MOST)
    axes.set_xticks([0.1, 0.25, 0.5, 1, 2, 4, 10], ["0.1", "0.25", "0.5", "1", "2", "4", "10"])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel(f"{what}, against {base}: left of 1 is better")


def ratios(report, directory):
    """A bar for each workload and kernel: the geometric mean of what its rows cost."""
    base, by_kernel = costs_of_others(report)
    names = [name for name in WORKLOADS if any(name in workloads for workloads in by_kernel.values())]
    if not names:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.24 * len(names) * len(by_kernel)))
    height = 0.8 / len(by_kernel)
    for index, (kernel, workloads) in enumerate(by_kernel.items()):
        there = [(place, workloads[name]) for place, name in enumerate(names) if name in workloads]
        means = [statistics.geometric_mean(bounded(result.ratio) for result in of_it.values()) for _, of_it in there]
        bars(axes, [place + index * height for place, _ in there], height, means, index, kernel)
    axes.set_yticks(
        [place + 0.4 - height / 2 for place in range(len(names))], [WORKLOADS[name].title for name in names], fontsize=7
    )
    finish_bars(axes, base, f"geometric mean of a workload's rows, each from {1 / MOST} to {MOST}")
    save(figure, directory, "ratios")
    return "ratios"


def rows(report, directory):
    """The rows one by one, under their workload's title."""
    base, by_kernel = costs_of_others(report)
    lines, places = [], {}
    for workload in WORKLOADS:
        of_it = [name for name in report["rows"] if any(name in w.get(workload, ()) for w in by_kernel.values())]
        if of_it:
            lines.append(WORKLOADS[workload].title)
        for name in of_it:
            places[name] = len(lines)
            lines.append(row_of(name).title)
    if not places:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.16 * len(lines) * len(by_kernel)))
    height = 0.8 / len(by_kernel)
    for index, (kernel, workloads) in enumerate(by_kernel.items()):
        there = {name: result for of_it in workloads.values() for name, result in of_it.items()}
        at = [places[name] + (index - (len(by_kernel) - 1) / 2) * height for name in there]
        bars(axes, at, height, [result.ratio for result in there.values()], index, kernel)
    labels = axes.set_yticks(range(len(lines)), lines, fontsize=5)
    for place, tick in enumerate(labels):
        if place not in places.values():
            tick.label1.set_fontweight("bold")
    finish_bars(axes, base, "cost of a row")
    save(figure, directory, "rows")
    return "rows"


def compile_times(report, directory):
    """Compile time over load, a panel a policy."""
    policies = [name for name in WORKLOADS if name.startswith("compile-")]
    policies = [p for p in policies if sum(f"{p}/{load}" in report["rows"] for load in LOADS) > 1]
    if not policies:
        return None
    figure, panels = pyplot.subplots(1, len(policies), figsize=(4 * len(policies), 3.5), sharey=True, squeeze=False)
    for axes, policy in zip(panels[0], policies, strict=True):
        for kernel in report["kernels"]:
            points = [
                (load, report["rows"][f"{policy}/{load}"][kernel["name"]])
                for load in LOADS
                if kernel["name"] in report["rows"].get(f"{policy}/{load}", {})
            ]
            medians = [statistics.median(values) for _, values in points]
            errors = [figures.spread(values) * statistics.median(values) for _, values in points]
            axes.errorbar([load for load, _ in points], medians, errors, marker="o", label=kernel["name"])
        axes.set_title(WORKLOADS[policy].title)
        axes.set_xlabel("load, %")
    panels[0][0].set_ylabel("real time, s")
    panels[0][0].legend()
    save(figure, directory, "compile")
    return "compile"


def latency_histograms(report, directory):
    """How many wake-ups took longer than a time, both axes logarithmic."""
    histograms = report["histograms"]
    if not histograms:
        return None
    columns = 2
    lines = (len(histograms) + columns - 1) // columns
    figure, panels = pyplot.subplots(lines, columns, figsize=(9, 3 * lines), squeeze=False)
    flat = [axes for line in panels for axes in line]
    for axes in flat[len(histograms) :]:
        axes.set_visible(False)
    for axes, (name, kernels) in zip(flat, sorted(histograms.items()), strict=False):
        for kernel in report["kernels"]:
            bins = sorted((int(upper), count) for upper, count in kernels.get(kernel["name"], {}).items())
            total = left = sum(count for _, count in bins)
            x, y = [], []
            for upper, count in bins:
                left -= count
                x.append(upper / 1000)
                y.append(max(left, 0.5) / total)
            axes.step(x, y, where="post", label=kernel["name"])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("wake-up latency, µs")
        axes.set_ylabel("share above it")
        axes.legend(fontsize=8)
    save(figure, directory, "latency")
    return "latency"


def draw(report, directory):
    """All plots that the report has figures for; their names."""
    matplotlib.rcParams["svg.hashsalt"] = "vrq"
    return [name for plot in (ratios, compile_times, latency_histograms, rows) if (name := plot(report, directory))]
