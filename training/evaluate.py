"""Figures of the reference reader on a folder with truth.jsonl.

    python -m training.render_held_out --count 300 --out DIR
    python -m training.evaluate --data DIR --models models [--json FILE] [--errors]

Shares come with their count and the Wilson 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path

from PIL import Image

from .reader import Reader


def wilson(hits: int, n: int) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    z, p = 1.96, hits / n
    mid = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, mid - half), min(1.0, mid + half)


class Share:
    def __init__(self) -> None:
        self.hits = self.n = 0

    def add(self, hit: bool) -> None:
        self.hits, self.n = self.hits + bool(hit), self.n + 1

    def row(self) -> str:
        if not self.n:
            return "none"
        low, high = wilson(self.hits, self.n)
        return f"{100 * self.hits / self.n:.1f} % ({self.hits}/{self.n}; {100 * low:.1f} to {100 * high:.1f})"


def measure(folder: Path, reader: Reader, errors: bool = False) -> dict:
    """Read every picture of `folder` and compare with its truth -> {row name: text}."""
    shares: dict[str, Share] = {}
    share = lambda name: shares.setdefault(name, Share())
    tp = fp = fn = 0
    per_code: dict[str, Counter] = {}
    fuel_gaps: list[float] = []
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        got = reader.read(Image.open(folder / truth["file"]))
        if not truth["dashboard"]:
            share("pictures without a dashboard: taken for one").add(got["dashboard"])
            said = got["odometer"] is not None or bool(got["warning_lights"]) or got["fuel_level_percent"] is not None
            share("pictures without a dashboard: any reading given").add(said)
            if errors and got["dashboard"]:
                print("FALSE", truth["file"], truth["tags"]["kind"], round(got["presence"], 2))
            continue
        night = {True: "night", False: "day", None: "unknown light"}[truth["tags"]["night"]]
        share("dashboard found").add(got["dashboard"])
        if errors and not got["dashboard"]:
            print("MISSED", truth["file"], truth["tags"], round(got["presence"], 2))
        if got["dashboard"]:
            share("lit or unlit right").add(got["cluster_lit"] == truth["cluster_lit"])
            if errors and got["cluster_lit"] != truth["cluster_lit"]:
                print("LIT", truth["file"], truth["cluster_lit"], round(got["lit"], 2))
        t, g = truth["odometer"], got["odometer"]
        if t:
            exact = g is not None and g["value"] == t["value"] and g["unit"] == t["unit"]
            style = {"font": "digital, typeface", "seven": "digital, seven-segment", "dot": "digital, dot matrix", "drums": "analogue drums"}[truth["tags"]["style"]]
            share("odometer exact (value and unit)").add(exact)
            share("odometer value right").add(g is not None and g["value"] == t["value"])
            share(f"odometer exact, {style}").add(exact)
            share(f"odometer exact, {night}").add(exact)
            share("odometer wrong value given").add(g is not None and g["value"] != t["value"])
            if g is not None:
                share("display type right when read").add(g["display_type"] == t["display_type"])
            if errors and not exact:
                print("ODO", truth["file"], t["text"], "->", g and (g["text"], round(g["score"], 2), round(g["confidence"], 2)), truth["tags"], reader.seen if got["dashboard"] else "")
        else:
            share("no readable odometer: a reading given").add(g is not None)
            if errors and g is not None:
                print("ODO none ->", truth["file"], g["text"], truth["tags"])
        a, b = Counter(v["code"] for v in truth["warning_lights"]), Counter(v["code"] for v in got["warning_lights"])
        for code in set(a) | set(b):
            c = per_code.setdefault(code, Counter())
            hit = min(a[code], b[code])
            c["tp"] += hit
            c["fp"] += b[code] - hit
            c["fn"] += a[code] - hit
            tp, fp, fn = tp + hit, fp + b[code] - hit, fn + a[code] - hit
        if errors and a != b:
            print("LAMPS", truth["file"], "missed", dict(a - b), "false", dict(b - a), truth["tags"])
        if truth["fuel_level_percent"] is not None:
            said = got["fuel_level_percent"] is not None
            share("fuel level given").add(said)
            if said:
                gap = abs(got["fuel_level_percent"] - truth["fuel_level_percent"])
                fuel_gaps.append(gap)
                share("fuel level within 10 points when given").add(gap <= 10)
                if errors and gap > 10:
                    print("FUEL", truth["file"], truth["fuel_level_percent"], "->", got["fuel_level_percent"])
        else:
            share("no fuel level shown: a level given").add(got["fuel_level_percent"] is not None)
    rows = {name: value.row() for name, value in sorted(shares.items())}
    precision, recall = tp / max(1, tp + fp), tp / max(1, tp + fn)
    rows["lamps precision"] = f"{precision:.3f} ({tp}/{tp + fp}; {wilson(tp, tp + fp)[0]:.3f} to {wilson(tp, tp + fp)[1]:.3f})"
    rows["lamps recall"] = f"{recall:.3f} ({tp}/{tp + fn}; {wilson(tp, tp + fn)[0]:.3f} to {wilson(tp, tp + fn)[1]:.3f})"
    rows["lamps F1"] = f"{2 * tp / max(1, 2 * tp + fp + fn):.3f} (n = {tp + fn} lit lamps)"
    if fuel_gaps:
        rows["fuel mean error when given"] = f"{sum(fuel_gaps) / len(fuel_gaps):.1f} points (n = {len(fuel_gaps)})"
    rows["lamps F1 by code"] = ", ".join(f"{code} {2 * c['tp'] / max(1, 2 * c['tp'] + c['fp'] + c['fn']):.2f}" for code, c in sorted(per_code.items()))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--errors", action="store_true")
    args = parser.parse_args()
    rows = measure(args.data, Reader(args.models), args.errors)
    for name, value in rows.items():
        print(f"{name}: {value}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
