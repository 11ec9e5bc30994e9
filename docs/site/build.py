"""Build the site:  make site,  or  python docs/site/build.py build/site [options of sphinx-build]

Assembles the sources, builds the pages with warnings as errors, and checks every link within them.  One process does
all, because loading every booster takes seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import assemble  # noqa: E402
import check_links  # noqa: E402
from sphinx.cmd.build import main as sphinx_build  # noqa: E402


def main(target: Path, options: list[str]) -> int:
    """Return 0 where all went well."""
    source, html = target / "source", target / "html"
    assemble.main(source)
    settings = ["-q", "-W", "--keep-going", "-j", "2", "-c", str(HERE), "-b", "html", *options]
    return sphinx_build([*settings, str(source), str(html)]) or check_links.main(html)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
