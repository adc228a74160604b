"""Take the pictures of the report that the documentation shows. Needs Chromium, Playwright and Pillow.

    python scripts/screenshots.py many.html two.html sample_0

makes `docs/report-glance.png` of the first report, light, and `docs/report-problem.png` of the second with the problem
opened, dark.
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
    parser.add_argument("glance", type=Path, help="report to show at a glance")
    parser.add_argument("opened", type=Path, help="report to show a problem of")
    parser.add_argument("problem", help="id of the problem to open")
    options = parser.parse_args()
    pictures = (
        ("report-glance.png", options.glance, "", "light", "#section-glance", 1500),
        ("report-problem.png", options.opened, "#" + quote(options.problem), "dark", "#problem", 1400),
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        for name, report, fragment, scheme, what, height in pictures:
            context = browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(report.resolve().as_uri() + fragment)
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
