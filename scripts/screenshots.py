"""Take the pictures of the report that the documentation shows. Needs Chromium, Playwright and Pillow.

    python scripts/screenshots.py report.html sample_7

makes `docs/report-glance.png`, light, and `docs/report-problem.png`, the problem opened, dark.
"""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("problem", help="id of the problem to open")
    options = parser.parse_args()
    page = options.report.resolve().as_uri()
    pictures = (
        ("report-glance.png", "", "light", "#section-glance", 1500),
        ("report-problem.png", "#" + quote(options.problem), "dark", "#problem", 1400),
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        for name, fragment, scheme, what, height in pictures:
            context = browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(page + fragment)
            tab.wait_for_selector("html[data-ready]")
            taken = Image.open(io.BytesIO(tab.locator(what).screenshot()))
            taken = taken.crop((0, 0, taken.width, min(height, taken.height)))
            # 128 colours are enough for text and charts, and a third of the size.
            taken.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(DOCS / name, optimize=True)
            print(DOCS / name, taken.size, (DOCS / name).stat().st_size)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
