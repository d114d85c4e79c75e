"""Closed lists the networks and the model.json files share."""

from __future__ import annotations

RELEASE = "2026-11-24"
# The reader of lines, which dashboard-reader uses, has not changed since.
TEXT_RELEASE = "2026-11-21"

# code, English label, severity, usual colour. Order = class index - 1 (class 0 is `none`).
LAMPS = [
    ("check_engine", "Check engine", "advisory", "amber"),
    ("oil_pressure", "Oil pressure", "stop", "red"),
    ("battery", "Battery charge", "stop", "red"),
    ("coolant_temperature", "Coolant temperature", "stop", "red"),
    ("brake", "Brake system or parking brake", "stop", "red"),
    ("abs", "Anti-lock brakes", "advisory", "amber"),
    ("airbag", "Airbag", "stop", "red"),
    ("tire_pressure", "Tire pressure", "advisory", "amber"),
    ("seat_belt", "Seat belt", "stop", "red"),
    ("esp", "Stability control", "advisory", "amber"),
    ("low_fuel", "Low fuel", "advisory", "amber"),
    ("door_open", "Door open", "stop", "red"),
    ("glow_plug", "Glow plug", "advisory", "amber"),
    ("power_steering", "Power steering", "stop", "red"),
    ("high_beam", "High beam", "info", "blue"),
    ("turn_signal", "Turn signal", "info", "green"),
    ("front_fog", "Front fog lamps", "info", "green"),
]
LAMP_CODES = ["none"] + [lamp[0] for lamp in LAMPS]

# CTC alphabet; index 0 is the blank.
CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ .,-/kmiles"
TEXT_LABELS = ["<blank>"] + list(CHARACTERS)
