# SPDX-License-Identifier: GPL-2.0-only
"""A report: report.json for programs, report.md and the terminal for people."""

import json
import math
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
    rows, bins, tables, failures = {}, {}, {}, []
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
        for name, found in outcome.tables.items():  # those of the first pass
            tables.setdefault(f"{outcome.workload}/{name}", {}).setdefault(outcome.kernel, found)
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
        "tables": tables,
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


def targets(mode, cpus):
    """What is asked of sched=vrq with so many CPUs.

    Ratios by row, the ratio of rows not named, limits of figures themselves, and
    {row: [other row, how many times its figure is allowed]}.
    """
    table = tomllib.loads(TARGETS.read_text())

    def section(name):
        return table.get(name, {}) | table.get(f"{name}-{cpus}", {})

    limits = table["limits"] | table.get(f"limits-{mode}-{cpus}", {})
    return section(mode), table["default"], limits, section(f"growth-{mode}")


def judged(report, name, values, comparison):
    """The target of a row of sched=vrq, and how it is met; empty if nothing is asked."""
    wanted, default, limits, growth = targets(report["mode"], report["cpus"])
    if name in limits:
        return limits[name], figures.against_limit(values, limits[name])
    if name in growth and (other := report["rows"].get(growth[name][0], {}).get("vrq")):
        limit = statistics.median(other) * growth[name][1]
        return round(limit, 3), figures.against_limit(values, limit)
    if comparison and row_of(name).better:
        target = wanted.get(name, default)
        return target, comparison.against(target)
    return "", ""


def row_of(name):
    workload, _, row = name.partition("/")
    return WORKLOADS[workload].rows[row]


def table_rows(report):
    """For each row: its name, cells for the kernels, and the mark against the target."""
    names = [kernel["name"] for kernel in report["kernels"]]
    base = names[0]
    for name, values in report["rows"].items():
        row = row_of(name)
        cells, mark, target = [], "", ""
        for kernel in names:
            if kernel not in values:
                cells.append("—")
                continue
            median = statistics.median(values[kernel])
            cell = f"{figures.number(median)} ±{figures.spread(values[kernel]):.1%}"
            comparison = None
            if kernel != base and base in values:
                comparison = figures.compare(values[base], values[kernel], row.better)
                # of nothing there is no ratio
                cell += f" ({comparison.ratio:.2f})" if math.isfinite(comparison.ratio) else ""
            if kernel == "vrq":
                target, mark = judged(report, name, values[kernel], comparison if base == "fair" else None)
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
    if report.get("one_boot"):
        lines.append("A guest ran each workload under one scheduler, was switched to the other, and ran it again.")
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


# Of what a plugin of the emulator found: what a table is about, and its columns
TABLES = {
    "functions": ("lines from another CPU by function, a switch", "read + written"),
    "data": ("lines from another CPU by data, a switch", "read + written"),
    "instructions": ("instructions by function, a switch", ""),
    "irqs-off": ("longest time with interrupts off in VRQ's code, by the function that took most of it", "µs"),
    "locks": ("locks taken in VRQ's code: entries a switch, busy", "%"),
}
SHOWN = 15


def entry_text(values):
    return " + ".join(figures.number(value) for value in values) if values else "—"


def found_tables(found, names):
    """The lines of the tables of one watch: the first of each kernel, beside each other."""
    for key, (title, unit) in TABLES.items():
        by_kernel = {name: {entry[0]: entry[1:] for entry in found.get(name, {}).get(key, ())} for name in names}
        most = {}
        for entries in by_kernel.values():
            for entry, values in entries.items():
                most[entry] = max(most.get(entry, 0), sum(values))
        if not most:
            continue
        yield f"\n{title}{f', {unit}' if unit else ''}:\n"
        yield "| | " + " | ".join(names) + " |"
        yield "| --- | " + " | ".join("---:" for _ in names) + " |"
        for entry in sorted(most, key=lambda entry: -most[entry])[:SHOWN]:
            yield f"| `{entry}` | " + " | ".join(entry_text(by_kernel[name].get(entry)) for name in names) + " |"


def tables_of(report, workload, names):
    """The tables of a workload, as text."""
    return "".join(
        f"\n### `{name}`\n" + "".join(f"{line}\n" for line in found_tables(found, names))
        for name, found in report.get("tables", {}).items()
        if name.partition("/")[0] == workload
    )


def markdown(report, plots=()):
    """report.md."""
    names = [kernel["name"] for kernel in report["kernels"]]
    text = "# Benchmark\n\n" + "\n".join(f"- {line}" for line in summary(report)) + "\n\n"
    text += 'How to read it: README.md, "How to read a report".\n'
    for failure in report["failures"]:
        text += f"\n**FAILED** {failure_line(failure)}\n"
    for plot in plots:
        # too long for this page
        text += "\n[The rows one by one](rows.svg)\n" if plot == "rows" else f"\n![{plot}]({plot}.svg)\n"
    current = ""
    for name, row, cells, mark, target in table_rows(report):
        workload = name.partition("/")[0]
        if workload != current:
            text += tables_of(report, current, names)
            current = workload
            text += f"\n## {WORKLOADS[workload].title} (`{workload}`)\n\n"
            text += "| row | unit | " + " | ".join(names) + " | target | |\n"
            text += "| --- | --- | " + " | ".join("---:" for _ in names) + " | ---: | --- |\n"
        text += f"| {row.title} | {row.unit} | " + " | ".join(cells) + f" | {target} | {MARKS[mark][0]} |\n"
    return text + tables_of(report, current, names)


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
