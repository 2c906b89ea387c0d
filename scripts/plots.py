#!/usr/bin/env python3
"""Draws ratios from the tables in Benchmarks/README.md, as Docs/images/NAME.svg.

    .build/pictures/bin/python scripts/plots.py

scripts/pictures installs matplotlib for it. The <desc> of each picture has its numbers; scripts/check_pictures.py compares them with
the tables.
"""

import io
import pathlib
import re
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLES = "Benchmarks/README.md"
FOLDER = "Docs/images"


class Failure(Exception):
    pass


def at_each_load(section, column):
    return [(f"{count} at a time", (section, "at a time", count, column)) for count in ("1", "16", "64")]


# Each picture: its title, whether its axis is logarithmic, and groups of bars. A bar is a label and the place of its number: the
# section, the first header of the table, the first cell of the row, and the header of the column.
PLOTS = {
    "throughput": ("Requests per second ÷ the peer's (more is better)", True, [
        ("CurlSession ÷ libcurl (perform)", at_each_load("session", "÷ libcurl, perform")),
        ("CurlSession ÷ libcurl (epoll)", at_each_load("session", "÷ libcurl, epoll")),
        ("perform ÷ libcurl, which doesn't build, sign or decode", at_each_load("perform", "÷ libcurl")),
        ("perform ÷ the same provider on URLSession", at_each_load("perform", "÷ URLSession")),
        ("perform ÷ requests (Python)", at_each_load("perform", "÷ requests")),
        ("perform ÷ httpx (Python)", at_each_load("perform", "÷ httpx")),
    ]),
    "times": ("Time ÷ the peer's (less is better)", False, [
        ("One signature by libHMACAuth.so ÷ libcrypto alone", [
            ("short GET", ("authorize", "authorize", "get", ".so ÷ libcrypto")),
            ("POST of 1 kB", ("authorize", "authorize", "post-1k", ".so ÷ libcrypto")),
            ("AWS-like steps", ("authorize", "a preset of five steps", "aws-like", ".so ÷ libcrypto"))]),
        ("One process, one request ÷ curl", [
            ("nevod-host", ("cold start", "one request, one process", "nevod-host", "÷ curl")),
            ("with a plugin", ("cold start", "one request, one process", "nevod-host with libHMACAuth.so", "÷ curl"))]),
        ("10,000 requests at once ÷ with a valid token", [
            ("expired token", ("storm", "10,000 at once", "expired token", "÷ valid token"))]),
        ("99th percentile beside a blocking scheme ÷ alone", [
            ("100 requests", ("blocking", "requests", "100", "ratio"))]),
        ("First lookup among 1,000,000 sealed tokens ÷ among 1,000", [
            ("lookup", ("storage", "tokens", "1000000", "÷ 1 k"))]),
    ]),
}

# The picture, including its background, follows the browser's color scheme. Each color has a counterpart in the dark scheme.
PAPER, INK, GRID, BAR = "#ffffff", "#1f2328", "#d0d7de", "#0969da"
DARK = {PAPER: "#0d1117", INK: "#e6edf3", GRID: "#3d444d", BAR: "#4493f8"}
ROW_INCHES, WIDTH_INCHES, LEFT = 0.24, 8.2, 0.19


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(text, place):
    """The number at a place in the tables, as written there."""
    section, header, row, column = place
    found = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    for table in re.findall(r"(?:^\|.*\n)+", found[1] if found else "", re.M):
        head, _, *rows = map(cells, table.splitlines())
        for values in rows:
            if head[0] == header and values[0] == row and column in head:
                return values[head.index(column)]
    raise Failure(f"{TABLES} has no number for the section \"{section}\", the table \"{header}\", the row \"{row}\", the column "
                  f"\"{column}\"; correct the table, or the place in PLOTS of scripts/plots.py")


def numbers(text, groups):
    """[(title, [(label, number as text)])] of the groups of a picture."""
    return [(title, [(label, number(text, place)) for label, place in bars]) for title, bars in groups]


def description(title, groups):
    return f"{title}. " + " ".join(
        f"{group}: " + ", ".join(f"{label} {value}" for label, value in bars) + "." for group, bars in groups)


def picture(title, is_logarithmic, groups):
    """The SVG of a picture. matplotlib is imported here, because the check of the numbers doesn't need it."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nevod", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.5,
                            "text.color": INK, "xtick.color": INK})

    inches = ROW_INCHES * (sum(len(bars) + 1.4 for _, bars in groups) + 3.5)
    figure, axes = pyplot.subplots(figsize=(WIDTH_INCHES, inches))
    figure.text(0.02, 1 - 0.2 / inches, title, va="center", weight="bold", size=11)
    figure.subplots_adjust(left=LEFT, right=0.98, top=1 - 0.4 / inches, bottom=0.3 / inches)
    # Bars begin at the peer on a logarithmic axis, at zero on another. The axis ends where the longest bar's number does.
    ratios = [1, *(float(value) for _, bars in groups for _, value in bars)]
    if is_logarithmic:
        axes.set_xscale("log")
        start, low, high, ticks = 1, min(ratios) / 1.6, max(ratios) * 1.6, [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 100]
    else:
        start, low, high, ticks = 0, 0, max(ratios) * 1.1, range(100)
    axes.set_xlim(low, high)
    ticks = [tick for tick in ticks if low <= tick <= high]
    beside = axes.get_yaxis_transform()
    y = 0
    for group, bars in groups:
        y += 1.2
        axes.text((0.02 - LEFT) / (0.98 - LEFT), y, group, transform=beside, va="center", weight="bold")
        axes.vlines(ticks, y + 0.5, y + len(bars) + 0.5, GRID, linewidth=0.8, clip_on=False)
        axes.vlines(1, y + 0.5, y + len(bars) + 0.5, INK, linewidth=1.4, zorder=3, clip_on=False)
        for label, value in bars:
            y += 1
            ratio = float(value)
            axes.barh(y, ratio - start, left=start, height=0.72, color=BAR, zorder=2, clip_on=False)
            axes.text(-0.015, y, label, transform=beside, ha="right", va="center")
            side, space = ("right", -4) if ratio < start else ("left", 4)
            axes.annotate(value, (ratio, y), (space, 0), textcoords="offset points", ha=side, va="center")
        y += 0.2
    axes.set_ylim(y + 0.5, 0.4)
    axes.set_xticks(ticks, ["1 = peer" if tick == 1 else f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)

    stream = io.StringIO()
    figure.savefig(stream, format="svg", facecolor=PAPER, metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
    pyplot.close(figure)
    return finished(stream.getvalue(), title, groups)


def finished(svg, title, groups):
    """matplotlib's picture with its title, its numbers and its dark colors, and without superfluous parts."""
    dark = "".join(f'[style*="{kind}: {light}"] {{ {kind}: {color} !important }}\n'
                   for light, color in DARK.items() for kind in ("fill", "stroke"))
    svg = re.sub(r'<!DOCTYPE.*?>\n|<metadata>.*?</metadata>\n *| transform="rotate\(-0 [^"]*"', "", svg, flags=re.S)
    return re.sub(r"(<svg .*?>\n)", lambda found: (
        f"{found[1]} <title>{escape(title)}</title>\n <desc>{escape(description(title, groups))}</desc>\n"
        f" <style>@media (prefers-color-scheme: dark) {{\n{dark}}}</style>\n"), svg, count=1, flags=re.S)


def main():
    text = (ROOT / TABLES).read_text()
    for name, (title, is_logarithmic, groups) in PLOTS.items():
        (ROOT / FOLDER / f"{name}.svg").write_text(picture(title, is_logarithmic, numbers(text, groups)))


if __name__ == "__main__":
    main()
