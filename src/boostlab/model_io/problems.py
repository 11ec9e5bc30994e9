"""What can be wrong with a file, said in one way."""

from __future__ import annotations

from typing import Any

FRESH = "fetch a fresh copy of it, or save the model again"
IMPORT = "import the module that defines it first"
JOBLIB = "use joblib.dump for this one"


class ModelFileError(ValueError):
    """A model cannot be saved or loaded; the message is one sentence with the file, the cause and the cure."""


class Problem(Exception):
    """A cause and a cure, from which `save` and `load` make their sentence."""

    def __init__(self, cause: str, cure: str = FRESH) -> None:
        super().__init__(f"{_short(cause)}; {_short(cure)}")


class Damage(Problem):
    """Content that no model has."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"its content is damaged ({cause})")
        self.cause = cause


def _short(text: str, most: int = 300) -> str:
    """Return text from other parts, which may quote a file, as it may stand in a message."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def need(holds: Any, cause: str) -> None:
    """Refuse content of which something does not hold."""
    if not holds:
        raise Damage(cause)


def shown(value: Any) -> str:
    """Return a value from a file as it may stand in a message: short and on one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
