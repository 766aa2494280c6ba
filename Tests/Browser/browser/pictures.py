"""Compares a picture of a page with the expected one."""

from __future__ import annotations

import io
import os
from pathlib import Path

from PIL import Image, ImageChops
from pixelmatch.contrib.PIL import pixelmatch

from .chromium import Page

GOLDENS = Path(__file__).parent.parent / "goldens"
DOCUMENTS = Path(__file__).parents[3] / "docs/pictures"
"""The folder of the pictures in the documents, which are tested too."""

IS_WRITING = "GOTCHU_TEST_WRITE" in os.environ

COLOURS = 128
"""The number of colours of a stored picture. Our pages have few colours, and the repository must
stay small."""

TOLERANCE = 0.2
"""The difference, from 0 to 1, up to which two pixels count as equal. At a letter's edge, the few
colours of a stored picture cause such differences."""

NEAR = int((35_215 * TOLERANCE**2 / 1.144) ** 0.5)
"""The difference in red, green and blue, of 255, up to which pixelmatch cannot count two pixels as
different. pixelmatch's measure is at most 1.144 times the square of this difference, and its limit
is 35,215 times the square of the tolerance."""

SHARE = 0.001
"""The share of pixels that may differ."""


def compare(page: Page, golden: Path, out: Path) -> None:
    """Fails unless the page looks like the picture. With GOTCHU_TEST_WRITE, writes the picture
    instead."""
    actual = Image.open(io.BytesIO(page.picture())).convert("RGB")
    if IS_WRITING:
        golden.parent.mkdir(parents=True, exist_ok=True)
        actual.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(golden, optimize=True)
        return
    if not golden.exists():
        raise AssertionError(f"there is no picture {golden.name}: make pictures")
    wanted = Image.open(golden).convert("RGB")
    if actual.size != wanted.size:
        raise AssertionError(f"{golden.name} is {actual.size}, and not {wanted.size}")
    red, green, blue = ImageChops.difference(actual, wanted).split()
    farthest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    if sum(farthest.histogram()[NEAR + 1 :]) <= SHARE * wanted.width * wanted.height:
        # pixelmatch could count only these pixels, and would need seconds.
        return
    difference = Image.new("RGBA", wanted.size)
    count = pixelmatch(actual.convert("RGBA"), wanted.convert("RGBA"), difference, threshold=TOLERANCE)
    share = count / (wanted.width * wanted.height)
    if share > SHARE:
        folder = out / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        actual.save(folder / golden.name)
        difference.save(folder / f"{golden.stem}-difference.png")
        raise AssertionError(f"{golden.name} differs in {share:.2%} of its pixels; see {folder.name}, or make pictures")
