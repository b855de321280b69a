#!/usr/bin/env python3
"""Makes the fonts of this folder from Inter (Debian package fonts-inter 3.19 or 4, needs fonttools).

usage: make_fonts.py /usr/share/fonts/opentype/inter

Qt before 6.7 cannot ask a font for its tabular figures, so the digits' characters are mapped to the tabular glyphs here.
The rest is a subset: Latin, Greek, punctuation, arrows and the signs of mathematics that labels need.
"""
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FAMILY = "Mambarium Sans"
RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x2B0, 0x2DD), (0x391, 0x3C9), (0x2010, 0x2026), (0x2030, 0x2033),
          (0x2039, 0x203A), (0x2070, 0x209C), (0x20AC, 0x20AC), (0x2122, 0x2122), (0x2190, 0x2199), (0x21E7, 0x21E7),
          (0x2202, 0x2202), (0x2206, 0x2206), (0x2211, 0x2212), (0x221A, 0x221A), (0x221E, 0x221E), (0x2248, 0x2248),
          (0x2260, 0x2265), (0x2318, 0x2318), (0x25A0, 0x25CF), (0x2713, 0x2717)]


def tabular_digits(font):
    """Character -> glyph for the ten digits, as the font's own tnum feature substitutes them."""
    cmap, gsub = font.getBestCmap(), font["GSUB"].table
    mapping = {}
    for record in gsub.FeatureList.FeatureRecord:
        if record.FeatureTag != "tnum":
            continue
        for index in record.Feature.LookupListIndex:
            for table in gsub.LookupList.Lookup[index].SubTable:
                mapping.update(getattr(getattr(table, "ExtSubTable", table), "mapping", {}))
    return {ord(digit): mapping[cmap[ord(digit)]] for digit in "0123456789"}


def make(source, style, target):
    font = TTFont(source)
    digits = tabular_digits(font)
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap.update(digits)
    # The interpolated weights are off by two units of 2816 here and there.
    widths = {font["hmtx"][glyph][0] for glyph in digits.values()}
    assert max(widths) - min(widths) <= 4, f"{source}: the figures are not tabular: {widths}"
    for glyph in digits.values():
        font["hmtx"][glyph] = (max(widths), font["hmtx"][glyph][1])

    options = subset.Options(layout_features=["kern", "mark", "mkmk", "ccmp"], name_IDs=["*"], hinting=False,
                             desubroutinize=False, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)

    postscript = f"{FAMILY.replace(' ', '')}-{style}"
    regular = style == "Regular"
    names = {1: FAMILY if regular else f"{FAMILY} {style}", 2: "Regular", 3: f"{postscript};from Inter",
             4: f"{FAMILY} {style}", 6: postscript, 16: FAMILY, 17: style}
    font["name"].names = [record for record in font["name"].names if record.nameID in (0, 5, 13, 14)]
    for identifier, text in names.items():
        font["name"].setName(text, identifier, 3, 1, 0x409)
    if "CFF " in font:
        cff = font["CFF "].cff
        cff.fontNames = [postscript]
        cff.topDictIndex[0].FullName, cff.topDictIndex[0].FamilyName = names[4], FAMILY
    font.save(target)
    print(f"{target}: {Path(target).stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for weight in ("Regular", "Medium", "SemiBold"):
        make(Path(sys.argv[1]) / f"Inter-{weight}.otf", weight, Path(__file__).parent / f"MambariumSans-{weight}.otf")
