"""The check goes on where there is no browser and none can be installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(not RUN.is_file() or BASH is None, reason="the check is not here, or no shell")


@pytest.mark.parametrize(("user", "programs"), [("1000", {}), ("0", {}), ("0", {"apt-get": "exit 100"})])
def test_it_goes_on_without_chromium(tmp_path, user, programs):
    """As a user without rights, without apt-get, and with one that cannot reach anything."""
    text = RUN.read_text(encoding="utf-8")
    browser = re.search(r"^browser\(\) \{.*?^\}", text, re.M | re.S).group()
    for name, line in {"id": f"echo {user}", "timeout": 'shift; exec "$@"', **programs}.items():
        program = tmp_path / name
        program.write_text(f"#!{BASH}\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    script = f"set -euo pipefail\n{browser}\nbrowser &\nwait\necho on"
    done = subprocess.run([BASH, "-c", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "No Chromium: the test of pages in a browser is skipped.\non\n"
