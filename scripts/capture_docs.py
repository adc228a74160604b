"""Bring the captured terminals in the documentation up to date.

Every fenced block that begins with `$ cruxeval …` is replaced by that line and what the command prints, at 88 columns. The
commands run in a folder with these links: `cruxeval.jsonl` to the published problems, `official/` to the authors' result
files, and `logs/` to whatever is given; the tests' folder `../shared` has the first two.

    python scripts/capture_docs.py docs/command.md --shared ../shared --logs LOGS [--only TEXT]
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"```text\n\$ cruxeval (?P<arguments>[^\n]*)\n.*?```", re.DOTALL)


def capture(arguments: str, folder: Path) -> str:
    """Run the command through the shell, which fills in `*`, and return what a terminal shows."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "88",
        "CRUXEVAL_PROBLEMS": "cruxeval.jsonl",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        f"'{sys.executable}' -m cruxeval_tasks {arguments}",
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # What `doctor` says of the machine, without what is particular to this one.
    text = done.stdout.replace("python -m cruxeval_tasks", "cruxeval").replace(sys.executable, "/usr/bin/python")
    text = text.replace(platform.release(), platform.release().partition("-")[0])
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--only", default="", help="capture only the commands that contain this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cruxeval.jsonl").symlink_to((options.shared / "cruxeval" / "cruxeval.jsonl").resolve())
        (folder / "official").symlink_to((options.shared / "official_results").resolve())
        (folder / "logs").symlink_to(options.logs.resolve())

        def block(match: re.Match[str]) -> str:
            arguments = match["arguments"]
            if options.only not in arguments:
                return match[0]
            print(f"$ cruxeval {arguments}", file=sys.stderr)
            return f"```text\n$ cruxeval {arguments}\n{capture(arguments, folder)}\n```"

        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(_BLOCK.sub(block, page), encoding="utf-8")


if __name__ == "__main__":
    main()
