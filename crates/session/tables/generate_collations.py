"""Writes the pinned weight tables of the collations and of the 8-bit character sets, out of a running MySQL 9.7.

    python3 generate_collations.py OUTPUT_FOLDER mariadb --no-defaults --skip-ssl -h127.0.0.1 -P3306 -uroot DATABASE

The words behind the folder are the client's command line; the database may be empty and gets the table `cp`. Weights are
asked with WEIGHT_STRING() for every assigned code point and every single byte; they are facts of the Unicode
Collation Algorithm and of the character sets. All numbers are little endian u16 unless said otherwise.

Weight tables (uca400.bin, uca520.bin, general_ci.bin; uca900.bin, uca900_secondary.bin, uca900_tertiary.bin for the
three levels): number of pages, words in the pool, rule (see `default_weights`), 4352 page numbers (one per 256 code
points, 0xFFFF = no page), pages of 256 entries, the pool. An entry is 0xFFFF: what the rule says; 0: ignorable; below
0x8000: the one weight; else 0x8000 + place in the pool, which holds [count, weight, weight, ...].

tailorings.bin: number of tailorings, then for each: the base's rule, levels, number of ranges of primary weights that
move, [first, last, new first] each; number of tertiary weights that change, [old, new] each; number of entries, each
[UTF-16 units, unit...] of a character or contraction and for each level [count, weight...].

eight_bit.bin: for each character set of EIGHT_BIT_SETS 256 code points (0xFFFF: none); then for each collation of
EIGHT_BIT_COLLATIONS 256 words: the weight, or 0x100 * second + first where a character has two.
"""
import struct
import subprocess
import sys
import unicodedata
from collections import Counter

FOLDER, CLIENT = sys.argv[1], sys.argv[2:] + ["-N", "--default-character-set=utf8mb4"]

EIGHT_BIT_SETS = """latin1 ascii latin2 latin5 latin7 cp1250 cp1251 cp1256 cp1257 koi8r koi8u greek hebrew cp850 cp852
    cp866 tis620 dec8 hp8 swe7 armscii8 geostd8 keybcs2 macce macroman""".split()
EIGHT_BIT_COLLATIONS = """latin1_swedish_ci latin1_german1_ci latin1_german2_ci latin1_danish_ci latin1_general_ci
    latin1_general_cs latin1_spanish_ci ascii_general_ci latin2_general_ci latin2_hungarian_ci latin2_croatian_ci
    latin5_turkish_ci latin7_estonian_cs latin7_general_ci latin7_general_cs cp1250_general_ci cp1250_croatian_ci
    cp1250_polish_ci cp1251_bulgarian_ci cp1251_ukrainian_ci cp1251_general_ci cp1251_general_cs cp1256_general_ci
    cp1257_lithuanian_ci cp1257_general_ci koi8r_general_ci koi8u_general_ci greek_general_ci hebrew_general_ci
    cp850_general_ci cp852_general_ci cp866_general_ci dec8_swedish_ci hp8_english_ci swe7_swedish_ci
    armscii8_general_ci geostd8_general_ci keybcs2_general_ci macce_general_ci macroman_general_ci""".split()
# The language collations on UCA 4.0 in the order of their numbers (225 and up; 246 is unicode_520_ci).
LEGACY = """icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak
    spanish2 roman persian esperanto hungarian sinhala german2 croatian vietnamese""".split()
MODERN = """de_pb is lv ro sl pl et es sv tr cs da lt sk es_trad la eo hu hr vi ru nb nn sr_latn bs bg gl mn_cyrl""".split()
GENERAL, UCA400, UCA520, UCA900, SECONDARY, TERTIARY = range(6)
UNIFIED = {0xFA0E, 0xFA0F, 0xFA11, 0xFA13, 0xFA14, 0xFA1F, 0xFA21, 0xFA23, 0xFA24, 0xFA27, 0xFA28, 0xFA29}


def ask(sql):
    done = subprocess.run(CLIENT, input=sql.encode(), capture_output=True)
    if done.returncode:
        raise SystemExit(sql[:200] + "\n" + done.stderr.decode())
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def literal(text):
    return "_utf8mb4 x'%s'" % text.encode().hex()


def prepare():
    points = [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1000), 0x30000, 0xF0000, 0x10FFFF]
    ask("create table if not exists cp (cp int primary key, c varchar(4) character set utf8mb4 collate utf8mb4_bin)")
    for at in range(0, len(points), 4096):
        rows = ",".join("(%d,%s)" % (point, literal(chr(point))) for point in points[at : at + 4096])
        ask("insert ignore into cp values " + rows)


def words(digits):
    return tuple(int(digits[at : at + 4], 16) for at in range(0, len(digits), 4))


def split(weights, levels):
    """The weights of each level; a zero word ends a level."""
    found = [[] for _ in range(levels)]
    at = 0
    for weight in weights:
        if weight == 0 and levels > 1:
            at += 1
        elif at == levels:
            return None  # a mark that a language ignores in one place, and that has a weight 0 of its own there
        else:
            found[at].append(weight)
    return tuple(map(tuple, found))


def weights_of(collation, levels=1):
    rows = ask("select cp, hex(weight_string(c collate %s)) from cp" % collation)
    return {int(row[0]): split(words(row[1]), levels) for row in rows}


def weights_of_texts(collation, texts, levels):
    found = {}
    for at in range(0, len(texts), 5000):
        part = texts[at : at + 5000]
        rows = ask("set names utf8mb4;" + ";".join("select hex(weight_string(%s collate %s))" % (literal(text), collation) for text in part))
        found.update((text, split(words(row[0]), levels)) for text, row in zip(part, rows))
    return found


def default_weights(rule, point):
    """What a code point without an entry weighs; `implicit` of table.rs says the same."""
    if rule == GENERAL:
        return (min(point, 0xFFFD) if point > 0xFFFF else point,)
    if rule == SECONDARY:
        return (0x20,)
    if rule == TERTIARY:
        return (2,)
    if rule == UCA400 and point > 0xFFFF:
        return (0xFFFD,)
    if rule == UCA900 and 0x17000 <= point <= 0x18AFF:
        return (0xFB00, (point - 0x17000) | 0x8000)
    modern = rule == UCA900
    extensions = 0x20000 <= point <= 0x2A6D6 or 0x2A700 <= point <= 0x2B734 or 0x2B740 <= point <= 0x2B81D or 0x2B820 <= point <= 0x2CEA1
    if 0x4E00 <= point <= (0x9FD5 if modern else 0x9FA5) or point in UNIFIED:
        base = 0xFB40
    elif 0x3400 <= point <= 0x4DB5 or modern and extensions:
        base = 0xFB80
    else:
        base = 0xFBC0
    return (base + (point >> 15), (point & 0x7FFF) | 0x8000)


def write(name, numbers):
    with open(FOLDER + "/" + name, "wb") as out:
        out.write(struct.pack("<%dH" % len(numbers), *numbers))
    print(name, len(numbers) * 2, "bytes")


def write_table(name, rule, weights):
    pool, places, index, pages, numbers = [], {}, [], [], {}

    def entry(point):
        found = weights.get(point, default_weights(rule, point))
        if found == default_weights(rule, point) and not (len(found) == 1 and 0 < found[0] < 0x8000 and rule > GENERAL):
            return 0xFFFF
        if rule == UCA900 and 0xAC00 <= point <= 0xD7A3:
            parts = [0x1100 + (point - 0xAC00) // 588, 0x1161 + (point - 0xAC00) % 588 // 28, 0x11A7 + (point - 0xAC00) % 28]
            assert found == sum((weights[part] for part in parts if part != 0x11A7), ())
            return 0xFFFF
        if rule in (SECONDARY, TERTIARY) and 0xAC00 <= point <= 0xD7A3:
            return 0xFFFF
        if not found:
            return 0
        if len(found) == 1 and found[0] < 0x8000:
            return found[0]
        if found not in places:
            places[found] = len(pool)
            pool.extend([len(found), *found])
        assert places[found] < 0x7FFF
        return 0x8000 + places[found]

    for page in range(0x1100):
        row = tuple(entry(page * 256 + low) for low in range(256))
        if all(word in (0xFFFF,) + default_weights(rule, 0) * (rule >= SECONDARY) for word in row):
            index.append(0xFFFF)
            continue
        if row not in numbers:
            numbers[row] = len(pages)
            pages.append(row)
        index.append(numbers[row])
    write(name, [len(pages), len(pool), rule] + index + [word for row in pages for word in row] + pool)


def moves(base, changed):
    """Ranges of primary weights that move together, from the characters with one weight; None for a weight that does not move."""
    pairs = {}
    for point, weights in changed.items():
        if len(weights[0]) == len(base[point][0]) == 1 and weights[0][0] < 0x8000:
            pairs.setdefault(base[point][0][0], set()).add(weights[0][0])
    pairs = {old: next(iter(new)) for old, new in pairs.items() if len(new) == 1}
    ranges = []
    for old in sorted(pairs):
        if ranges and pairs[old] - old == ranges[-1][2] - ranges[-1][0]:
            ranges[-1][1] = old
        else:
            ranges.append([old, old, pairs[old]])
    return [part for part in ranges if part[0] != part[2] and part[1] - part[0] > 200]


def tailoring(collation, rule, base, levels):
    """The tailoring's words, found by comparing its weights with the base's, of characters and of sequences."""
    own = weights_of(collation, levels)
    ranges = moves(base, own) if rule == UCA900 else []
    tertiary = {}
    if levels == 3:
        for point, weights in own.items():
            if weights[0] == base[point][0] and len(weights[2]) == 1 and weights[2] != base[point][2]:
                tertiary.setdefault(base[point][2][0], Counter())[weights[2][0]] += 1
        # Danish sorts capitals first: all tertiary weights change. Elsewhere some characters do.
        tertiary = {old: new.most_common(1)[0][0] for old, new in tertiary.items()} if tertiary.get(2, Counter()).total() > 1000 else {}

    def moved(weight):
        for first, last, start in ranges:
            if first <= weight <= last:
                return start + weight - first
        return weight

    def expected(point):
        weights = [tuple(map(moved, base[point][0])), *base[point][1:levels]]
        if levels == 3:
            weights[2] = tuple(tertiary.get(weight, weight) for weight in weights[2])
        return tuple(weights)

    entries = {chr(point): weights for point, weights in own.items() if weights != expected(point)}

    def joined(text):
        """Without a contraction: the longest entries one after another."""
        total, at = [()] * levels, 0
        while at < len(text):
            length = next((n for n in range(min(6, len(text) - at), 1, -1) if text[at : at + n] in entries), 1)
            weights = entries.get(text[at : at + length]) or expected(ord(text[at]))
            total = [have + more for have, more in zip(total, weights)]
            at += length
        return tuple(total)

    letters = [chr(c) for c in [*range(0x41, 0x5B), *range(0x61, 0x7B)]]
    special = [c for c in entries if ord(c) < 0x3000 and unicode_letter(c)][:400]
    candidates = sorted(set(letters + special + [chr(c) for c in range(0x300, 0x346)] + list("'\u00b7\u0e40\u0c30")))
    low = letters[26:]
    texts = {a + b for a in candidates for b in candidates}
    for length in range(2, 6):
        found = weights_of_texts(collation, sorted(texts), levels)
        entries.update([(text, found[text]) for text in texts if found[text] not in (None, joined(text))])
        long = [text for text in entries if len(text) == length or len(text) == length - 1 > 1]
        texts = {text + more for text in long for more in candidates} | {more + text for text in long for more in candidates}
        if length == 2:
            texts |= {a + b + c for a in low for b in low for c in low}
        texts = {text for text in texts if len(text) == length + 1}
    numbers = [rule, levels, len(ranges), *(word for part in ranges for word in part)]
    numbers += [len(tertiary), *(word for pair in sorted(tertiary.items()) for word in pair), len(entries)]
    for text in sorted(entries):
        units = words(text.encode("utf-16-be").hex())
        numbers += [len(units), *units]
        for weights in entries[text]:
            numbers += [len(weights), *weights]
    long = [text for text in entries if len(text) > 1]
    print(collation, "ranges", ranges, "tertiary", tertiary, "entries", len(entries), "sequences", len(long), " ".join(long[:30]))
    return numbers


def by_character(collation, base):
    """The words of an order of the first plane that differs from general_ci in single characters."""
    rows = ask("select cp, hex(weight_string(convert(c using utf8mb3) collate %s)) from cp where cp < 65536" % collation)
    own = {int(row[0]): words(row[1]) for row in rows}
    entries = {point: weights for point, weights in own.items() if weights != base[point][0]}
    print(collation, "entries", len(entries))
    return [GENERAL, 1, 0, 0, len(entries)] + [word for point in sorted(entries) for word in (1, point, len(entries[point]), *entries[point])]


def unicode_letter(character):
    return unicodedata.category(character)[0] in "LM"


def eight_bit():
    numbers = []
    every = " union all ".join("select %d b, x'%02x' x" % (byte, byte) for byte in range(256))
    for name in EIGHT_BIT_SETS:
        rows = ask("select b, hex(convert(convert(x using %s) using utf32)) from (%s) t order by b" % (name, every))
        points = [int(row[1] or "0", 16) for row in rows]
        numbers += [0xFFFF if point == 0x3F and byte != 0x3F else point for byte, point in enumerate(points)]
    for name in EIGHT_BIT_COLLATIONS:
        charset = name.split("_")[0]
        rows = ask("select b, hex(weight_string(convert(x using %s) collate %s)) from (%s) t order by b" % (charset, name, every))
        for row in rows:
            weights = bytes.fromhex(row[1])
            numbers.append(weights[0] | (weights[1] << 8 if len(weights) > 1 else 0))
    write("eight_bit.bin", numbers)


def record():
    """recorded.tsv: for each collation a text (UTF-8, hexadecimal) and its WEIGHT_STRING, which the tests compare ours with."""
    sample = "aA\u00e1\u00c4\u00e5\u00d8\u00e6\u0152\u00dfchChCHdzsD\u017eaaAAll\u00f1nj i\u0307I\u0131\u0130\u011f\u015f\u010d\u01ce\u0103\u01b0\uac00\u4e00\u044f\u0401\u03b1\u0e01\U0001f600\t-_1\u00b2\ufb01 \u0128\u0663\u30ab"
    with open(FOLDER + "/recorded.tsv", "w") as out:
        for name, charset in ask("select collation_name, character_set_name from information_schema.collations order by id"):
            if charset in EIGHT_BIT_SETS:
                every = bytes(range(0x20, 0x80 if charset == "ascii" else 0x100)).hex()
                text = "convert(x'%s' using %s)" % (every, charset)
                text = "convert(convert(replace(%s, '?', '') using utf8mb4) using %s)" % (text, charset)
            elif charset in ("utf8mb4", "utf8mb3", "ucs2", "utf16", "utf16le", "utf32"):
                text = "convert(%s using %s)" % (literal(sample), charset)
            else:
                continue
            row = ask("select hex(convert(x using utf8mb4)), hex(weight_string(x collate %s)) from (select %s x) t" % (name, text))[0]
            print(name, *row, sep="\t", file=out)


prepare()
record()
uca900 = weights_of("utf8mb4_0900_as_cs", 3)
uca400 = weights_of("utf8mb4_unicode_ci")
general = weights_of("utf8mb4_general_ci")
level = lambda weights, at: {point: found[at] for point, found in weights.items()}
write_table("uca900.bin", UCA900, level(uca900, 0))
write_table("uca900_secondary.bin", SECONDARY, level(uca900, 1))
write_table("uca900_tertiary.bin", TERTIARY, level(uca900, 2))
write_table("uca400.bin", UCA400, level(uca400, 0))
write_table("uca520.bin", UCA520, level(weights_of("utf8mb4_unicode_520_ci"), 0))
write_table("general_ci.bin", GENERAL, level(general, 0))
eight_bit()
found = [tailoring("utf8mb4_%s_ci" % name, UCA400, uca400, 1) for name in LEGACY]
found += [tailoring("utf8mb4_%s_0900_as_cs" % name, UCA900, uca900, 3) for name in MODERN]
found += [by_character("utf8mb3_%s_ci" % name, general) for name in ("general_mysql500", "tolower")]
write("tailorings.bin", [len(found)] + [word for one in found for word in one])
