"""Install a wheel into an empty environment and run its doctests there:  python tests/check_wheel.py dist

Nothing of the source tree is used: the doctests are those inside the wheel, run in an empty folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NEEDED = [
    "pytest",
    "pandas",
    "matplotlib",
    "mpmath",
    "dask[array]",
    "distributed",
]  # by examples in docstrings


def main() -> int:
    """Install, run, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="folder with one wheel")
    parser.add_argument("--constraints", type=Path, default=None, help="exact versions; none are the newest ones")
    parser.add_argument("--only", default="", help="modules whose path holds this word")
    asked = parser.parse_args()
    (wheel,) = asked.dist.glob("boostlab-*.whl")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
        python = home / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
        limits = ["-c", str(asked.constraints.resolve())] if asked.constraints else []
        subprocess.run([*pip, *limits, str(wheel.resolve()), *NEEDED], check=True)
        where = "import boostlab, pathlib; print(pathlib.Path(boostlab.__file__).parent)"
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        found = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True, cwd=home, env=clean)
        package = Path(found.stdout.strip())
        assert package.is_relative_to(home.resolve()), package
        command = [python, "-m", "pytest", "-q", "--doctest-modules", "-p", "no:cacheprovider", "-o"]
        command += [
            "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS",
            "--import-mode=importlib",
            "--doctest-ignore-import-errors",
        ]
        command += [
            str(path)
            for path in sorted(package.rglob("*.py"))
            if asked.only in path.as_posix() and ">>>" in path.read_text("utf-8")
        ]
        return subprocess.run(command, cwd=home, env=clean).returncode


if __name__ == "__main__":
    sys.exit(main())
