# SPDX-License-Identifier: GPL-2.0-only
"""A report: report.json for programs, report.md and the terminal for people."""

import json
import statistics
import tomllib
from pathlib import Path

from rich.console import Console
from rich.table import Table

from common import TOP, Failure

from . import figures
from .workloads import WORKLOADS

FORMAT = 1
TARGETS = TOP / "tests/bench/targets.toml"
MARKS = {"met": ("✓", "green"), "near": ("~", "yellow"), "missed": ("✗", "red"), "": ("", "")}


def gather(outcomes, kernels, setting, facts):
    """The content of report.json."""
    rows, bins, failures = {}, {}, []
    for outcome in sorted(outcomes, key=lambda outcome: outcome.number):
        if outcome.failure:
            failures.append(
                {
                    "workload": outcome.workload,
                    "kernel": outcome.kernel,
                    "pass": outcome.number + 1,
                    "cause": outcome.failure,
                }
            )
        # what a run gave before it failed counts
        for row, value in outcome.rows.items():
            by_kernel = rows.setdefault(f"{outcome.workload}/{row}", {})
            by_kernel.setdefault(outcome.kernel, []).append(value)
        for name, counts in outcome.bins.items():
            total = bins.setdefault(f"{outcome.workload}/{name}", {}).setdefault(outcome.kernel, {})
            for upper, count in counts.items():
                total[upper] = total.get(upper, 0) + count
    return {
        "format": FORMAT,
        **facts,
        "mode": setting.mode,
        "cpus": setting.cpus,
        "kernels": [
            {
                "name": kernel.name,
                "cmdline": kernel.cmdline,
                "release": next((o.release for o in outcomes if o.kernel == kernel.name and o.release), ""),
            }
            for kernel in kernels
        ],
        "rows": {row: rows[row] for row in in_order(rows)},
        "histograms": bins,
        "failures": failures,
    }


def in_order(names):
    """Row names in the order of the workloads' table."""
    known = [f"{name}/{row}" for name, workload in WORKLOADS.items() for row in workload.rows]
    return [name for name in known if name in names]


def load(path):
    """Read a report.json, or that of a directory."""
    path = Path(path)
    path = path / "report.json" if path.is_dir() else path
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error.strerror if isinstance(error, OSError) else 'not a report'}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise Failure(f"{path}: not a report of this version")
    return report


def targets(mode):
    """The highest cost ratio that each row may have, that of rows not named, and limits of the figure itself."""
    table = tomllib.loads(TARGETS.read_text())
    return table.get(mode, {}), table["default"], table["limits"]


def row_of(name):
    workload, _, row = name.partition("/")
    return WORKLOADS[workload].rows[row]


def table_rows(report):
    """For each row: its name, cells for the kernels, and the mark against the target."""
    names = [kernel["name"] for kernel in report["kernels"]]
    base = names[0]
    wanted, default, limits = targets(report["mode"])
    for name, values in report["rows"].items():
        row = row_of(name)
        cells, mark, target = [], "", ""
        for kernel in names:
            if kernel not in values:
                cells.append("—")
                continue
            median = statistics.median(values[kernel])
            cell = f"{figures.number(median)} ±{figures.spread(values[kernel]):.1%}"
            if kernel != base and base in values:
                comparison = figures.compare(values[base], values[kernel], row.better)
                cell += f" ({comparison.ratio:.2f})"
                if kernel == "vrq" and base == "fair" and row.better:
                    target = wanted.get(name, default)
                    mark = comparison.against(target)
            if kernel == "vrq" and name in limits:
                target = limits[name]
                mark = figures.against_limit(values[kernel], target)
            cells.append(cell)
        yield name, row, cells, mark, target


def repeats(name):
    """Must this row come out the same each time? Throughput and averages must, tails cannot."""
    row = row_of(name)
    return bool(row.better) and (row.kind == "throughput" or name.endswith(("-avg", "-avg-us")))


def disagreement_line(what, found):
    """What says how far the rows of (distance, row, kernel) are apart."""
    distance, name, kernel = max(found)
    beyond = sum(distance > 0.02 for distance, _, _ in found)
    return (
        f"{what} of throughput rows and averages disagree by {distance:.1%} at most ({name}, {kernel}); "
        f"{beyond} of {len(found)} by more than 2%"
    )


def summary(report):
    """What one should know first, as lines."""
    lines = [
        f"{report['date']}, commit {report['commit']}, {report['mode']} mode, {report['cpus']} CPUs, "
        f"{report['passes']} passes in {report['minutes']:.0f} minutes",
        "; ".join(f"{name}: {value}" for name, value in report["machine"].items()),
    ]
    lines += [f"{kernel['name']}: {kernel['release']} {kernel['cmdline']}".strip() for kernel in report["kernels"]]
    found = [
        (figures.disagreement(passes), name, kernel)
        for name, values in report["rows"].items()
        for kernel, passes in values.items()
        if repeats(name)
    ]
    if report["passes"] > 1 and found:
        lines.append(disagreement_line("Passes", found))
    marks = [mark for _, _, _, mark, _ in table_rows(report) if mark]
    if marks:
        lines.append(
            f"Targets: {marks.count('met')} met, {marks.count('near')} not told by the spread, "
            f"{marks.count('missed')} missed"
        )
    return lines


def failure_line(failure):
    return f"{failure['workload']}, {failure['kernel']}, pass {failure['pass']}: {failure['cause']}"


def markdown(report, plots=()):
    """report.md."""
    names = [kernel["name"] for kernel in report["kernels"]]
    text = "# Benchmark\n\n" + "\n".join(f"- {line}" for line in summary(report)) + "\n\n"
    text += 'How to read it: README.md, "How to read a report".\n'
    for failure in report["failures"]:
        text += f"\n**FAILED** {failure_line(failure)}\n"
    for plot in plots:
        text += f"\n![{plot}]({plot}.svg)\n"
    current = ""
    for name, row, cells, mark, target in table_rows(report):
        workload = name.partition("/")[0]
        if workload != current:
            current = workload
            text += f"\n## {WORKLOADS[workload].title} (`{workload}`)\n\n"
            text += "| row | unit | " + " | ".join(names) + " | target | |\n"
            text += "| --- | --- | " + " | ".join("---:" for _ in names) + " | ---: | --- |\n"
        text += f"| {row.title} | {row.unit} | " + " | ".join(cells) + f" | {target} | {MARKS[mark][0]} |\n"
    return text


def show(report):
    """The same on the terminal, in colour if it is one."""
    console = Console(highlight=False)
    names = [kernel["name"] for kernel in report["kernels"]]
    table, current = None, ""
    for name, row, cells, mark, target in table_rows(report):
        workload = name.partition("/")[0]
        if workload != current:
            if table:
                console.print(table)
            current = workload
            table = Table(title=WORKLOADS[workload].title, title_justify="left", title_style="bold", box=None)
            for column in ("row", "", *names, "target", ""):
                table.add_column(column, justify="left" if column in ("row", "") else "right")
        sign, colour = MARKS[mark]
        table.add_row(row.title, row.unit, *cells, str(target), sign, style=colour or None)
    if table:
        console.print(table)
    for line in summary(report):
        console.print(line)
    for failure in report["failures"]:
        console.print(f"FAILED {failure_line(failure)}", style="red")


def compare(first, second):
    """The lines of a comparison of two reports, kernel by kernel, and the counts."""
    console = Console(highlight=False)
    counts = {"better": 0, "worse": 0, "cannot tell": 0}
    apart = []
    kernels = [kernel["name"] for kernel in first["kernels"]]
    common = [name for name in kernels if name in {kernel["name"] for kernel in second["kernels"]}]
    pairs = [(name, name) for name in common] or [(kernels[0], second["kernels"][0]["name"])]
    for one, other in pairs:
        table = Table(title=f"{one} in A, {other} in B", title_justify="left", title_style="bold", box=None)
        for column in ("row", "A", "B", "B : A", "verdict"):
            table.add_column(column, justify="left" if column in ("row", "verdict") else "right")
        for name in first["rows"]:
            a, b = first["rows"][name].get(one), second["rows"].get(name, {}).get(other)
            row = row_of(name)
            if not a or not b or not row.better:
                continue
            result = figures.compare(a, b, row.better)
            counts[result.verdict] += 1
            if repeats(name):
                apart.append((figures.disagreement([statistics.median(a), statistics.median(b)]), name, one))
            colour = {"better": "green", "worse": "red"}.get(result.verdict)
            table.add_row(
                name,
                f"{figures.number(statistics.median(a))} ±{figures.spread(a):.1%}",
                f"{figures.number(statistics.median(b))} ±{figures.spread(b):.1%}",
                f"{result.ratio:.3f}",
                result.verdict,
                style=colour,
            )
        console.print(table)
    console.print("; ".join(f"{count} rows {verdict}" for verdict, count in counts.items()))
    if apart:
        console.print(disagreement_line("Medians", apart))
    return counts
