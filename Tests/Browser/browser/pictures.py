"""A picture of a page held against the one that is right."""

from __future__ import annotations

import io
import os
from pathlib import Path

from PIL import Image, ImageChops
from pixelmatch.contrib.PIL import pixelmatch

from .chromium import Page

GOLDENS = Path(__file__).parent.parent / "goldens"
DOCUMENTS = Path(__file__).parents[3] / "docs/pictures"
"""The pictures that people see beside the documents: what is tested, too."""

IS_WRITING = "GOTCHU_TEST_WRITE" in os.environ

COLOURS = 128
"""Colours of a kept picture, small signs' too: pages are flat, and the repository is to stay small."""

TOLERANCE = 0.2
"""How far a pixel may be from its colour, of 1: what the palette takes from an edge of a letter."""

NEAR = int((35_215 * TOLERANCE**2 / 1.144) ** 0.5)
"""How far apart a pixel's red, green and blue may each be, of 255, and it cannot differ: pixelmatch's measure of two
colours is at most 1.144 times the square of that, and is held against 35,215 times that of the tolerance."""

SHARE = 0.001
"""The pixels that may differ."""


def compare(page: Page, golden: Path, out: Path) -> None:
    """Fails unless the page looks as in the picture; with GOTCHU_TEST_WRITE the picture is written."""
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
        # pixelmatch would count no other pixels, and needs seconds to do so.
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
