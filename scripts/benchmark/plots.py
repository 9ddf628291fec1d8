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


def ratios(report, directory):
    """Cost of each judged row against the first kernel."""
    base, *others = [kernel["name"] for kernel in report["kernels"]]
    names = [name for name, values in report["rows"].items() if row_of(name).better and base in values]
    if not names or not others:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.2 * len(names) * len(others)))
    height = 0.8 / len(others)
    for index, kernel in enumerate(others):
        places, values, errors = [], [], []
        for place, name in enumerate(names):
            passes = report["rows"][name]
            if kernel not in passes:
                continue
            result = figures.compare(passes[base], passes[kernel], row_of(name).better)
            if 0 < result.ratio < float("inf"):
                places.append(place + index * height)
                values.append(result.ratio)
                errors.append(result.ratio * result.spread)
        axes.barh(places, values, height, xerr=errors, label=kernel, error_kw={"linewidth": 0.8})
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(names))], names, fontsize=6)
    axes.invert_yaxis()
    axes.margins(y=0.005)
    axes.set_xlabel(f"cost against {base}, logarithmic: left of 1 is better")
    axes.legend()
    save(figure, directory, "ratios")
    return "ratios"


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
    return [name for plot in (ratios, compile_times, latency_histograms) if (name := plot(report, directory))]
