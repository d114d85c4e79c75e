"""Put the measured figures into both MODEL_CARD.md files.

    python -m training.write_cards --held-out held.json --naive naive.json --lines lines.json

The JSON files come from `evaluate --json` and `evaluate_lines --json`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .labels import LAMPS, RELEASE, TEXT_RELEASE


def table(rows: dict, skip: tuple = ()) -> str:
    lines = ["| Figure | Result (hits/n; Wilson 95 %) |", "| --- | --- |"]
    lines += [f"| {name} | {value} |" for name, value in rows.items() if name not in skip]
    return "\n".join(lines)


def goals(rows: dict) -> str:
    first = lambda name: float(rows[name].split()[0])
    entries = [
        ("odometer exact (value and unit)", "at least 90 %", first("odometer exact (value and unit)") >= 90, rows["odometer exact (value and unit)"]),
        ("lamps F1", "at least 0.90", first("lamps F1") >= 0.9, rows["lamps F1"]),
        ("any reading on pictures without a dashboard", "at most 2 %", first("pictures without a dashboard: any reading given") <= 2, rows["pictures without a dashboard: any reading given"]),
    ]
    lines = ["| Goal | Wanted | Measured | Met |", "| --- | --- | --- | --- |"]
    return "\n".join(lines + [f"| {n} | {w} | {m} | {'yes' if ok else 'no'} |" for n, w, ok, m in entries])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--naive", type=Path, required=True)
    parser.add_argument("--lines", type=Path, help="without it the card of text-line stays as it is")
    args = parser.parse_args()
    held, naive = (json.loads(p.read_text()) for p in (args.held_out, args.naive))

    (args.models / "dashboard-reader" / RELEASE / "MODEL_CARD.md").write_text(f"""# dashboard-reader {RELEASE} (preview)

Finds an instrument cluster in a photograph, says whether it is powered, and finds and reads its odometer, lit warning lamps and fuel level. The odometer's characters are read by `text-line@{TEXT_RELEASE}`. **Trained on synthetic pictures only; no photograph of a real car was trained on, or used to choose a threshold. The figures below are of synthetic pictures; [photographs](#photographs) says what little was seen of real ones.**

Licence: Apache-2.0. Trained from scratch on generated pictures; no outside data set, no pretrained weights.

## Intended use

Reference model to build and test the service's pipeline with, and a starting point for training on real pictures. Not for decisions about mileage, value or safety without a person looking at the picture.

## Networks

| File | Task | Size |
| --- | --- | --- |
""" + "\n".join(f"| `{n}.onnx` | {t} | {(args.models / 'dashboard-reader' / RELEASE / (n + '.onnx')).stat().st_size / 1e6:.1f} MB |" for n, t in (
        ("locator", "cluster box, presence, lit or not"), ("elements", "odometer (digital or drums), fuel gauge, lit lamps"),
        ("lamps", f"{len(LAMPS)} lamps and `none`"), ("fuel", "level 0..1 and confidence"))) + f"""

float32, ONNX opset 17, decoding inside the graph. Pre- and post-processing: `training/INTERFACE.md`; numbers in `model.json`.

Lamps: {", ".join(code for code, *_ in LAMPS)}. Left and right turn signal are one class.

## How it was made

A generator (`training/`) draws clusters (two dials, one dial, fully digital, strip, plain) as a reflecting and a shining layer, mixes them for day, night or no power, puts them into a picture with perspective, glare, blur, noise and JPEG, and knows the truth of every element. 2550 clusters, two photographs each, about 2500 pictures without a dashboard and 8000 lone fuel gauges were rendered. Training ran for about 70 minutes of wall clock on two busy, shared processor cores (two rounds per network, three for the locator, the later ones starting from the earlier weights), so the networks were far from converged. Two rules of the generator were corrected after the training data had been rendered (a last drum of another colour always shows tenths; small bar gauges).

Locator and element finder are those of 2026-11-22. Lamps and fuel went on from the weights of that release (`training/unfold.py`), because it took a temperature gauge for one of fuel and misread symbols: lamps on 32,000 lone symbols and print, fuel on 20,000 lone gauges, two fifths of which show temperature, oil, volts or speed instead, and both on 300 clusters (seed 21), in three rounds of 8 to 16 minutes on about a third of a core. Gauges of the first 12,000 were rendered at 80 pixels and reduced to 64. The example pictures were looked at between the rounds: one shows a symbol left dark on a lit tile, which was misread, so the last 8,000 lone symbols have more of those.

## Held-out set

`python -m training.render_held_out --seed 515 --count 300`: 300 pictures (70 % dashboards, one in ten of them without power) with nine typeface families, the DSEG seven-segment faces and surrounds that training never saw, and two subjects without a dashboard that training never saw. Layouts of clusters, warning symbols and the camera model come from the same generator as the training pictures. Thresholds, line margins and the several views of an odometer were chosen on another 220 pictures of the same kind (seed 4242), rendered before the correction of the drums, and on pictures of the second renderer below; the least confidence of a fuel level and the number of gauges on 200 of seed 616. The gauges of seed 515 were looked at once, with the weights of 2026-11-22, to see why levels were wrong; otherwise the set was not used for training or choice.

### Goals

{goals(held)}

### All figures, held-out set, reference reader `training/reader.py`

{table(held)}

### Beside 2026-11-22, on the same pictures

The odometer is read by the same networks, picture by picture alike.

| Figure | 2026-11-22 | {RELEASE} |
| --- | --- | --- |
| fuel level within 10 points, of levels shown | 63.3 % (95/150) | 70.7 % (106/150) |
| fuel level more than 10 points off | 24.0 % (36/150) | 4.0 % (6/150) |
| fuel level shown, null | 12.7 % (19/150) | 25.3 % (38/150) |
| no fuel level shown: a level given | 27.0 % (17/63) | 3.2 % (2/63) |
| fuel mean error when given, points | 11.8 | 5.0 |
| lamps precision | 0.980 (601/613) | 0.983 (630/641) |
| lamps recall | 0.922 (601/652) | 0.966 (630/652) |

The level's confidence, on these pictures (right: a fuel gauge, and within 8 points):

| Confidence | Mean | Right |
| --- | --- | --- |
| 0.6 to 0.7 | 0.67 | 7 of 11 |
| 0.7 to 0.8 | 0.75 | 9 of 11 |
| 0.8 to 0.9 | 0.85 | 22 of 25 |
| 0.9 to 0.95 | 0.93 | 21 of 22 |
| 0.95 and more | 0.98 | 45 of 46 |

Of the 38 levels that are null, the gauge's box was not found in 15, the level was not sure in 22, and the cluster was missed or called unlit in one.

## A second, independent renderer

`training/naive.py` shares no drawing code with the generator: flat colours, two dials, one line in DejaVu or Liberation (both were in training), simple symbols, no perspective (120 pictures, seed 77). Its author is the same and the margins of the line crops were chosen with these pictures in view, so it is a sanity check and not an independent test.

{table(naive)}

## Photographs

Six photographs of real clusters, from adverts, that nothing was trained on. 2026-11-22 gave two fuel levels, both wrong, and listed six lamps, of which two are right; this release gives no level and lists four lamps, of which two are right. At least twenty lamps are lit on them. So on photographs most lamps are missed, and levels are null.

## Known weaknesses

- Synthetic pictures only (see above). Expect a large drop on real photographs.
- The odometer goal of 90 % is missed on the held-out set. Weakest: mechanical drums (a rolling last drum, a tenths drum taken for a whole one, or the reverse) and dot matrix. Errors come from digits read wrongly, a box edge that cuts a digit, and a unit taken away or added.
- About one reading in twenty of the odometers in the held-out set gives a wrong value. On clusters whose odometer is absent or unreadable, a range ("460 km") is at times taken for the odometer.
- Fuel: a quarter of the levels shown are null. One in twenty of the levels given is more than 10 points off; another gauge, or another part of the cluster, is at times still taken for fuel.
- A clock face, a screen or an empty car interior is now and then taken for a cluster (row "taken for one"); a reading follows seldom.
- Very dark clusters, and fully digital ones with little text, are missed or called unlit. `cluster_lit` leans on the display or a lamp being readable.
- Symbols drawn unlike ISO 2575 may be missed. Lamps outside the list are reported as `none` or as the nearest symbol.
- Only upright pictures, tilted by less than about 10 degrees. Several clusters in one picture: only the best is read.
""")

    if args.lines is None:
        return
    lines = json.loads(args.lines.read_text())
    (args.models / "text-line" / TEXT_RELEASE / "MODEL_CARD.md").write_text(f"""# text-line {TEXT_RELEASE} (preview)

Reads one line of print: odometers first, and VINs, number plates and tire sidewalls. Digits, A to Z, space, `. , - /` and the lower case letters of km, mi and miles. **Trained and measured on synthetic lines only; no photograph was used.**

Licence: Apache-2.0. Trained from scratch on generated pictures; no outside data set, no pretrained weights.

## Intended use

Reference model for the service's pipeline, and a starting point for training on real lines. Not for decisions without a check (VIN check digit, a person).

## Network

`text-line.onnx`, {(args.models / 'text-line' / TEXT_RELEASE / 'text-line.onnx').stat().st_size / 1e6:.1f} MB, 0.64 million parameters, float32, opset 17: convolutions over height 32, one step for every four columns, dilated convolutions along the line, CTC. The graph evens out local brightness and contrast itself. Pre- and post-processing: `training/INTERFACE.md`, step 7.

## Data

60,000 lone lines (64 % odometers and mechanical counters, 11 % VINs, 10 % plates, 10 % tires, 5 % mixed) and about 8000 odometer crops from whole pictures, line height 10 to 60 pixels, jittered margins, skew, blur, noise, JPEG. Thirty typeface families, own seven-segment and dot-matrix digits. A drum of another colour at the end shows tenths and is not part of the text; part of the training lines (about 2 %) were labelled otherwise by mistake.

## Held-out figures

`python -m training.evaluate_lines --count 300`: 300 lines of each kind in nine typeface families and the DSEG seven-segment faces that training never saw, one crop per line with jittered margins. Seven-segment faces show a comma as a point, so "exact" counts some commas as wrong; the second row of each kind leaves separators and case aside.

{table(lines)}

Odometers in whole pictures, with several crops per line: see the card of dashboard-reader.

## Known weaknesses

- VINs, plates and tires were a third of the training lines and are read worse; of the VINs only about three in five are wholly right. 0/O, 1/I, 5/S, 8/B are confused where the typeface is unknown. Moulded tire lettering is only hinted at by the generator.
- Confidence is not calibrated: a crop that cuts a digit may be read with full confidence.
- Letters of neighbouring text at the crop's edge are read along.
""")


if __name__ == "__main__":
    main()
