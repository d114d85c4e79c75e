"""Tells an omitted argument from `None`, which some fields accept."""

import enum


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET
