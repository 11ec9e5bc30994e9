"""Every command through the installed entry point, one after another, on a file as ugly as they come."""

import csv
import os
import subprocess
import sys

import numpy as np

# One process, because starting Python costs more than any of the commands.
SCRIPT = """
import runpy, sys
from importlib.metadata import entry_points

(command,) = entry_points(group="console_scripts", name="boostlab")
main = command.load()
for line in sys.stdin.read().splitlines():
    sys.argv = ["boostlab", *line.split("|")]
    try:
        if line == "list":  # as `python -m boostlab list`
            runpy.run_module("boostlab", run_name="__main__", alter_sys=True)
        else:
            main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    print(f"<{line} {code}>", flush=True)
"""

UGLY = "verkäufe <b>&.csv"


def ugly(path):
    """Write a table with a byte order mark, decimal commas, quoted line ends, blank lines and hostile names."""
    rng = np.random.default_rng(0)
    lines = ['Größe;"<script>alert(1)</script>";"Bemer""kung";leer;immer;Preis (€);Erfolg']
    for i in range(90):
        a, b = rng.normal(size=2)
        cell = f"{a:.2f}".replace(".", ",") if i % 11 else ""
        note = '"zwei\nZeilen; gut"' if b > 0 else "gut"
        price = f'"1.{200 + i},50 €"' if a > 0 else '"980,00 €"'
        lines.append(f"{cell};{'Nord' if b > 0 else 'Süd'};{note};;x;{price};{'JA' if a + b > 0 else 'nein'}")
        if i % 30 == 0:
            lines.append("")
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))


def test_every_command_on_an_ugly_file(tmp_path):
    ugly(tmp_path / UGLY)
    commands = [
        f"compare|{UGLY}|--target|Erfolg|--boosters|AdaBoost|--folds|2|--rounds|3|--with-peers|no|--jobs|2|--out|c",
        f"fit|{UGLY}|--target|Erfolg|--booster|LogitBoost|--set|n_estimators=4|--out|m.boost",
        f"predict|m.boost|{UGLY}|--proba|--explain|--out|scored.csv",
        f"predict|c/model.boost|{UGLY}|--out|again.csv",
        f"explain|m.boost|{UGLY}|--out|page.html",
        "card|m.boost",
        "list",
        "datasets",
        f"fit|{UGLY}|--target|erfolg",
        "predict|m.boost|nothing.csv",
    ]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONWARNINGS": "default"},
        input="\n".join(commands),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    ends = [line for line in done.stdout.splitlines() if line.startswith("<") and line.endswith(">")]
    codes = [int(line.rpartition(" ")[2][:-1]) for line in ends]
    assert codes == [0] * 8 + [2] * 2, done.stdout + done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith(("boostlab compiles", "verkäufe"))]
    assert said == [  # by no process a warning or a traceback
        *("90 rows: scored.csv", "90 rows: again.csv"),
        "boostlab: There is no column 'erfolg'; did you mean 'Erfolg'?",
        "boostlab: There is no file nothing.csv; check the name and the folder.",
    ]
    rows = list(csv.DictReader((tmp_path / "scored.csv").read_text(encoding="utf-8").splitlines(keepends=True)))
    assert len(rows) == 90
    assert np.mean([row["predicted Erfolg"] == row["Erfolg"] for row in rows]) > 0.8
    for page in ("page.html", "c/report.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text
