"""Writes the pinned weight tables of the collations.

    python3 generate_collations.py ALLKEYS OUTPUT_FOLDER

ALLKEYS is the Default Unicode Collation Element Table of UCA 9.0.0 (allkeys.txt, Unicode licence).
Format of both files, little endian u16: 4352 page numbers (one per 256 code points, 0xFFFF = no page), then the
pages of 256 entries, then (uca900.bin only) the expansion pool.
  uca900.bin    entry 0xFFFF: implicit weight; 0: ignorable; below 0x8000: the one primary weight; else 0x8000 + place
                in the expansion pool, which holds [count, weight, weight, ...].
  general_ci.bin  entry: the weight of the code point (its base letter in upper case).
Two u16 lead the file: number of pages, number of u16 in the pool.
"""
import re, struct, sys, unicodedata

def write(path, entries, default, pool):
    index, pages = [], []
    for page in range(0x1100):
        row = [entries.get(page * 256 + low, default(page * 256 + low)) for low in range(256)]
        if all(value == default(page * 256 + low) for low, value in enumerate(row)):
            index.append(0xFFFF)
        else:
            index.append(len(pages))
            pages.append(row)
    words = [len(pages), len(pool)] + index + [word for row in pages for word in row] + pool
    with open(path, "wb") as out:
        out.write(struct.pack("<%dH" % len(words), *words))
    print(path, len(pages), "pages", len(pool), "pool", len(words) * 2, "bytes")

def uca(allkeys, path):
    entries, pool, places = {}, [], {}
    for line in open(allkeys, encoding="utf-8"):
        match = re.match(r"^([0-9A-F ]+?)\s*;\s*(.*?)\s*#", line)
        if not match:
            continue
        points = [int(p, 16) for p in match.group(1).split()]
        if len(points) != 1:
            continue
        weights = [int(w, 16) for w in re.findall(r"\[[.*]([0-9A-F]{4})\.", match.group(2))]
        weights = [w for w in weights if w]
        if not weights:
            entries[points[0]] = 0
        elif len(weights) == 1 and weights[0] < 0x8000:
            entries[points[0]] = weights[0]
        else:
            key = tuple(weights)
            if key not in places:
                places[key] = len(pool)
                pool.append(len(key))
                pool.extend(key)
            assert places[key] < 0x7FFF
            entries[points[0]] = 0x8000 + places[key]
    write(path, entries, lambda point: 0xFFFF, pool)

def general_ci(path):
    """Case and accents of the characters of Unicode 3.2 (the collation is older than later ones); accents are taken off
    Latin, Greek and Cyrillic letters only, and the letter short I stays itself."""
    old = unicodedata.ucd_3_2_0
    known = lambda text: all(ord(c) < 0x10000 and old.category(c) != "Cn" for c in text)
    latin_greek_cyrillic = lambda point: point < 0x530 or 0x1E00 <= point < 0x2000

    def upper(character):
        mapped = character.upper()
        return mapped if len(mapped) == 1 and known(mapped) else character

    entries = {}
    for point in range(0x10000):
        if 0xD800 <= point < 0xE000 or not known(chr(point)):
            continue
        character = upper(chr(point))
        decomposed = old.normalize("NFD", character)
        if (
            latin_greek_cyrillic(point)
            and point not in (0x419, 0x439)
            and len(decomposed) > 1
            and old.category(decomposed[0])[0] == "L"
            and all(map(unicodedata.combining, decomposed[1:]))
        ):
            character = upper(decomposed[0])
        if point == 0xDF:
            character = "S"
        if ord(character) != point:
            entries[point] = ord(character)
    for point in range(0x10000, 0x110000):
        entries[point] = 0xFFFD
    # Supplementary code points need no pages: the reader knows their weight.
    entries = {p: w for p, w in entries.items() if p < 0x10000}
    write(path, entries, lambda point: point & 0xFFFF, [])

uca(sys.argv[1], sys.argv[2] + "/uca900.bin")
general_ci(sys.argv[2] + "/general_ci.bin")
