"""An independent, deliberately plain renderer for a sanity test.

    python -m training.naive --seed 5 --count 200 --out DIR

Shares no drawing code with the training generator (only the truth format):
flat colours, a dark panel, two dials, one digital line in DejaVu or
Liberation, a few simple coloured symbols, a fuel bar or needle. No
perspective; a little noise and JPEG.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

FACES = ["truetype/dejavu/DejaVuSans-Bold.ttf", "truetype/dejavu/DejaVuSansMono-Bold.ttf", "truetype/dejavu/DejaVuSans.ttf", "truetype/dejavu/DejaVuSansMono.ttf",
         "truetype/liberation2/LiberationSans-Bold.ttf", "truetype/liberation2/LiberationMono-Bold.ttf", "truetype/liberation2/LiberationSans-Regular.ttf"]
AMBER, RED, GREEN, BLUE = (255, 176, 0), (225, 25, 25), (40, 210, 70), (60, 110, 255)


def face(name: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(f"/usr/share/fonts/{name}", max(8, int(size)))


def engine(d, x, y, s, c, r):
    d.rectangle((x + .2 * s, y + .32 * s, x + .78 * s, y + .75 * s), outline=c, width=max(2, int(s * .08)))
    d.rectangle((x + .36 * s, y + .18 * s, x + .62 * s, y + .26 * s), fill=c)
    d.rectangle((x + .45 * s, y + .26 * s, x + .53 * s, y + .34 * s), fill=c)
    d.rectangle((x + .04 * s, y + .42 * s, x + .1 * s, y + .66 * s), fill=c)
    d.rectangle((x + .1 * s, y + .5 * s, x + .2 * s, y + .57 * s), fill=c)
    d.rectangle((x + .78 * s, y + .48 * s, x + .88 * s, y + .58 * s), fill=c)
    d.rectangle((x + .88 * s, y + .38 * s, x + .95 * s, y + .7 * s), fill=c)


def battery(d, x, y, s, c, r):
    w = max(2, int(s * .08))
    d.rectangle((x + .05 * s, y + .3 * s, x + .95 * s, y + .85 * s), outline=c, width=w)
    d.rectangle((x + .18 * s, y + .18 * s, x + .34 * s, y + .3 * s), fill=c)
    d.rectangle((x + .66 * s, y + .18 * s, x + .82 * s, y + .3 * s), fill=c)
    d.line((x + .18 * s, y + .56 * s, x + .38 * s, y + .56 * s), fill=c, width=w)
    d.line((x + .62 * s, y + .56 * s, x + .82 * s, y + .56 * s), fill=c, width=w)
    d.line((x + .72 * s, y + .46 * s, x + .72 * s, y + .66 * s), fill=c, width=w)


def oil(d, x, y, s, c, r):
    d.polygon([(x + .15 * s, y + .45 * s), (x + .6 * s, y + .45 * s), (x + .95 * s, y + .32 * s), (x + .65 * s, y + .72 * s), (x + .15 * s, y + .72 * s)], fill=c)
    d.rectangle((x + .3 * s, y + .32 * s, x + .45 * s, y + .38 * s), fill=c)
    d.rectangle((x + .35 * s, y + .36 * s, x + .4 * s, y + .46 * s), fill=c)
    d.ellipse((x + .92 * s, y + .5 * s, x + s, y + .62 * s), fill=c)


def brake(d, x, y, s, c, r):
    w = max(2, int(s * .07))
    d.ellipse((x + .2 * s, y + .2 * s, x + .8 * s, y + .8 * s), outline=c, width=w)
    d.arc((x + .06 * s, y + .06 * s, x + .94 * s, y + .94 * s), 130, 230, fill=c, width=w)
    d.arc((x + .06 * s, y + .06 * s, x + .94 * s, y + .94 * s), -50, 50, fill=c, width=w)
    d.text((x + .5 * s, y + .5 * s), r, fill=c, font=face(FACES[0], s * .42), anchor="mm")


def abs_(d, x, y, s, c, r):
    w = max(2, int(s * .07))
    d.ellipse((x + .16 * s, y + .16 * s, x + .84 * s, y + .84 * s), outline=c, width=w)
    d.arc((x + .02 * s, y + .02 * s, x + .98 * s, y + .98 * s), 130, 230, fill=c, width=w)
    d.arc((x + .02 * s, y + .02 * s, x + .98 * s, y + .98 * s), -50, 50, fill=c, width=w)
    d.text((x + .5 * s, y + .5 * s), "ABS", fill=c, font=face(FACES[0], s * .24), anchor="mm")


def arrow(d, x, y, s, c, r):
    pts = [(.05, .5), (.5, .15), (.5, .35), (.95, .35), (.95, .65), (.5, .65), (.5, .85)]
    if r == "P":
        pts = [(1 - a, b) for a, b in pts]
    d.polygon([(x + a * s, y + b * s) for a, b in pts], fill=c)


def beam(d, x, y, s, c, r):
    d.pieslice((x + .1 * s, y + .2 * s, x + .95 * s, y + .8 * s), -90, 90, fill=c)
    for k in range(5):
        yy = y + (.24 + .13 * k) * s
        d.line((x + .02 * s, yy, x + .42 * s, yy), fill=c, width=max(2, int(s * .06)))


def pump(d, x, y, s, c, r):
    d.rectangle((x + .2 * s, y + .12 * s, x + .6 * s, y + .88 * s), fill=c)
    d.rectangle((x + .27 * s, y + .2 * s, x + .53 * s, y + .4 * s), fill=(10, 10, 10))
    d.line([(x + .6 * s, y + .5 * s), (x + .75 * s, y + .5 * s), (x + .75 * s, y + .75 * s), (x + .85 * s, y + .75 * s), (x + .85 * s, y + .35 * s), (x + .7 * s, y + .2 * s)], fill=c, width=max(2, int(s * .06)))


def thermometer(d, x, y, s, c, r):
    w = max(2, int(s * .09))
    d.line((x + .5 * s, y + .1 * s, x + .5 * s, y + .6 * s), fill=c, width=w)
    d.ellipse((x + .38 * s, y + .54 * s, x + .62 * s, y + .78 * s), fill=c)
    for k in (.18, .32, .46):
        d.line((x + .5 * s, y + k * s, x + .7 * s, y + k * s), fill=c, width=max(2, w // 2))
    pts = [(x + (.1 + .8 * i / 24) * s, y + (.88 + .04 * math.sin(i * 1.3)) * s) for i in range(25)]
    d.line(pts, fill=c, width=max(2, w // 2))


def belt(d, x, y, s, c, r):
    d.ellipse((x + .38 * s, y + .05 * s, x + .62 * s, y + .29 * s), fill=c)
    d.polygon([(x + .35 * s, y + .35 * s), (x + .65 * s, y + .35 * s), (x + .75 * s, y + .9 * s), (x + .25 * s, y + .9 * s)], fill=c)
    d.line((x + .7 * s, y + .4 * s, x + .28 * s, y + .85 * s), fill=(10, 10, 10), width=max(2, int(s * .07)))


ICONS = {"check_engine": (engine, AMBER), "battery": (battery, RED), "oil_pressure": (oil, RED), "brake": (brake, RED), "abs": (abs_, AMBER), "turn_signal": (arrow, GREEN),
         "high_beam": (beam, BLUE), "low_fuel": (pump, AMBER), "coolant_temperature": (thermometer, RED), "seat_belt": (belt, RED)}


def gauge(d, r: random.Random, cx, cy, rad, top, name, label, colour):
    d.ellipse((cx - rad, cy - rad, cx + rad, cy + rad), fill=(18, 18, 20), outline=(150, 150, 155), width=max(3, int(rad * .03)))
    n = 10 if top > 20 else top
    for i in range(n + 1):
        a = math.radians(135 + 270 * i / n)
        for k, wid in ((.88, 4),):
            d.line((cx + rad * k * math.cos(a), cy + rad * k * math.sin(a), cx + rad * .96 * math.cos(a), cy + rad * .96 * math.sin(a)), fill=(230, 230, 230), width=wid)
        d.text((cx + rad * .72 * math.cos(a), cy + rad * .72 * math.sin(a)), str(int(top * i / n)), fill=(230, 230, 230), font=face(name, rad * .12), anchor="mm")
    a = math.radians(135 + 270 * r.uniform(0, .6))
    d.line((cx, cy, cx + rad * .8 * math.cos(a), cy + rad * .8 * math.sin(a)), fill=colour, width=max(3, int(rad * .03)))
    d.ellipse((cx - rad * .07, cy - rad * .07, cx + rad * .07, cy + rad * .07), fill=(90, 90, 90))
    d.text((cx, cy + rad * .3), label, fill=(170, 170, 170), font=face(name, rad * .1), anchor="mm")


def dashboard(r: random.Random) -> tuple[Image.Image, dict]:
    w, h = r.choice([(1280, 720), (1024, 768), (1600, 900), (960, 540), (1200, 800)])
    image = Image.new("RGB", (w, h), tuple(r.randint(20, 130) for _ in range(3)))
    d = ImageDraw.Draw(image)
    px0, px1 = w * r.uniform(.04, .15), w * r.uniform(.85, .96)
    py0, py1 = h * r.uniform(.1, .25), h * r.uniform(.8, .92)
    panel = (r.randint(5, 35),) * 3
    if r.random() < .3:
        d.ellipse((px0, py0, px1, py1), fill=panel)
    else:
        d.rounded_rectangle((px0, py0, px1, py1), r.choice([0, 20, 60]), fill=panel, outline=(60, 60, 60), width=4)
    pw, ph = px1 - px0, py1 - py0
    cx, cy = (px0 + px1) / 2, (py0 + py1) / 2
    rad = min(pw * .17, ph * .36)
    name = r.choice(FACES)
    needle = r.choice([(230, 40, 30), (255, 140, 0), (240, 240, 240)])
    km = r.random() < .6
    gauge(d, r, px0 + pw * .25, cy - ph * .04, rad, 8, name, "x1000 rpm", needle)
    gauge(d, r, px0 + pw * .75, cy - ph * .04, rad, 240 if km else 160, name, "km/h" if km else "mph", needle)
    # Odometer
    unit = ("km" if km else r.choice(["mi", "miles"])) if r.random() < .85 else ""
    value = r.randint(1000, 399999)
    digits = str(value) if r.random() < .7 else f"{value:,}".replace(",", r.choice([",", " ", "."]))
    text = f"{digits} {unit}".strip()
    size = pw * r.uniform(.022, .035)
    font = face(name, size)
    ox, oy = cx, cy + ph * r.uniform(.1, .2)
    ink, ground = r.choice([((255, 255, 255), (0, 0, 0)), ((120, 255, 140), (5, 25, 8)), ((255, 170, 40), (20, 10, 0)), ((20, 20, 20), (160, 190, 150))])
    full = d.textbbox((ox, oy), text, font=font, anchor="mm")
    d.rectangle((full[0] - size * .6, full[1] - size * .5, full[2] + size * .6, full[3] + size * .5), fill=ground)
    d.text((ox, oy), text, fill=ink, font=font, anchor="mm")
    if r.random() < .4:
        d.text((ox, full[1] - size * 1.1), "ODO", fill=(160, 160, 160), font=face(name, size * .6), anchor="mm")
    if r.random() < .4:
        d.text((ox, full[3] + size * 1.2), f"TRIP {r.uniform(1, 900):.1f}", fill=(190, 190, 190), font=face(name, size * .7), anchor="mm")
    # Fuel
    level = r.random()
    fx, fy, fw = cx - pw * .06, cy - ph * .3, pw * .12
    if r.random() < .5:
        d.rectangle((fx, fy, fx + fw, fy + ph * .05), outline=(220, 220, 220), width=2)
        d.rectangle((fx + 2, fy + 2, fx + 2 + (fw - 4) * level, fy + ph * .05 - 2), fill=(70, 200, 80))
        fs = face(name, ph * .035)
        d.text((fx, fy + ph * .08), "E", fill=(230, 60, 60), font=fs, anchor="mm")
        d.text((fx + fw, fy + ph * .08), "F", fill=(230, 230, 230), font=fs, anchor="mm")
        d.text((fx + fw / 2, fy + ph * .08), "FUEL", fill=(180, 180, 180), font=fs, anchor="mm")
        fuel_box = (fx - ph * .02, fy, fx + fw + ph * .02, fy + ph * .1)
    else:
        rr = fw * .5
        ax, ay = cx, fy + rr
        d.arc((ax - rr, ay - rr, ax + rr, ay + rr), 210, 330, fill=(220, 220, 220), width=4)
        fs = face(name, ph * .035)
        for label, deg in (("E", 210), ("F", 330)):
            d.text((ax + rr * 1.2 * math.cos(math.radians(deg)), ay + rr * 1.2 * math.sin(math.radians(deg))), label, fill=(230, 230, 230), font=fs, anchor="mm")
        a = math.radians(210 + 120 * level)
        d.line((ax, ay, ax + rr * .9 * math.cos(a), ay + rr * .9 * math.sin(a)), fill=needle, width=4)
        fuel_box = (ax - rr * 1.2, ay - rr, ax + rr * 1.2, ay + rr * .1)
    # Lamps
    s = pw * r.uniform(.03, .04)
    codes = r.sample(list(ICONS), 7)
    lamps = []
    y = py1 - s * 1.5 if r.random() < .7 else py0 + s * .5
    for i, code in enumerate(codes):
        x = cx + (i - 3.5) * s * 1.6 if y > cy else cx + (i - 3.5) * s * 1.5
        on = r.random() < .35
        draw, colour = ICONS[code]
        draw(d, x, y, s, colour if on else tuple(v + 22 for v in panel), r.choice(["P", "!"]))
        if on:
            lamps.append({"code": code, "bbox": {"x": x, "y": y, "width": s, "height": s}})
    image = image.filter(ImageFilter.GaussianBlur(r.choice([0, .5, .8])))
    box = lambda b: {"x": b[0], "y": b[1], "width": b[2] - b[0], "height": b[3] - b[1]}
    return image, {"dashboard": True, "cluster_lit": True, "cluster_bbox": box((px0, py0, px1, py1)),
                   "odometer": {"value": value, "unit": {"km": "km", "mi": "mi", "miles": "mi", "": None}[unit], "display_type": "digital", "text": text, "bbox": box(full)},
                   "warning_lights": lamps, "fuel_level_percent": round(100 * level, 1), "fuel_bbox": box(fuel_box), "tags": {"night": None, "kind": "naive", "style": "font"}}


def other(r: random.Random) -> Image.Image:
    w, h = r.choice([(1280, 720), (1024, 768), (960, 540)])
    image = Image.new("RGB", (w, h), tuple(r.randint(0, 255) for _ in range(3)))
    d = ImageDraw.Draw(image)
    kind = r.randrange(5)
    if kind == 0:
        for i in range(12):
            d.text((40, 30 + i * h / 13), " ".join(str(r.randint(0, 999999)) for _ in range(6)), fill=(10, 10, 10), font=face(r.choice(FACES), h * .04))
    elif kind == 1:
        d.text((w / 2, h / 2), f"{r.randint(1000, 399999)} km", fill=(255, 255, 255), font=face(r.choice(FACES), h * .12), anchor="mm")
    elif kind == 2:
        d.rectangle((0, h * .55, w, h), fill=(70, 120, 60))
        d.rectangle((w * .2, h * .5, w * .8, h * .75), fill=(180, 30, 30))
        for x in (.32, .68):
            d.ellipse((w * x - h * .1, h * .68, w * x + h * .1, h * .88), fill=(20, 20, 20))
    elif kind == 3:
        d.ellipse((w / 2 - h * .4, h * .1, w / 2 + h * .4, h * .9), fill=(245, 245, 245), outline=(0, 0, 0), width=8)
        for i in range(12):
            a = math.radians(30 * i - 60)
            d.text((w / 2 + h * .32 * math.cos(a), h / 2 + h * .32 * math.sin(a)), str(i + 1), fill=(0, 0, 0), font=face(FACES[0], h * .06), anchor="mm")
        for length in (.2, .3):
            a = r.uniform(0, 6.3)
            d.line((w / 2, h / 2, w / 2 + h * length * math.cos(a), h / 2 + h * length * math.sin(a)), fill=(0, 0, 0), width=8)
    else:
        for _ in range(25):
            x, y, s = r.uniform(0, w), r.uniform(0, h), r.uniform(10, 200)
            r.choice([d.rectangle, d.ellipse])((x, y, x + s, y + s), fill=tuple(r.randint(0, 255) for _ in range(3)))
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with open(args.out / "truth.jsonl", "w") as out:
        for i in range(args.count):
            r = random.Random(args.seed * 100003 + i)
            name = f"{i:05d}.jpg"
            if r.random() < .75:
                image, truth = dashboard(r)
            else:
                image = other(r)
                truth = {"dashboard": False, "cluster_lit": None, "cluster_bbox": None, "odometer": None, "warning_lights": [], "fuel_level_percent": None, "fuel_bbox": None, "tags": {"night": None, "kind": "other", "style": None}}
            image.save(args.out / name, quality=88)
            out.write(json.dumps({"file": name, "width": image.width, "height": image.height, **truth}) + "\n")


if __name__ == "__main__":
    main()
