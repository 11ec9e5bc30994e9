"""Draw the pictures of the documentation:  make docs,  or  python docs/make_pictures.py NAME ... for some of them.

Every picture is a small script in docs/pictures with a function draw(quick=False) that returns the figure; `quick` is a
rough version for the tests.  Some need benchmark tables, from the folder that the variable BOOSTLAB_DATA names.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).parent / "pictures"
sys.path.insert(0, str(Path(__file__).parent))  # where the scripts find their palette and tables

from real_tables import NoTables  # noqa: E402


def script(path: Path) -> ModuleType:
    """Return a picture's script as a module."""
    spec = importlib.util.spec_from_file_location(f"picture_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(names: list[str]) -> int:
    """Draw the pictures named, or all of them."""
    known = {path.stem: path for path in sorted(HERE.glob("*.py"))}
    if unknown := set(names) - set(known):
        print(f"there is no picture {min(unknown)!r}; choose from {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        try:
            script(known[name]).draw().savefig(HERE / f"{name}.png", dpi=130)
        except NoTables as reason:
            print(f"docs/pictures/{name}.png stays as it is: {reason}")
        else:
            print(f"docs/pictures/{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
