"""Writes eastern.bin, the orders of utf8mb4_ja_0900_as_cs, its _ks and utf8mb4_zh_0900_as_cs, and recorded_eastern.tsv, out of a
running MySQL 9.7.

    python3 generate_eastern.py OUTPUT_FOLDER mariadb --no-defaults --skip-ssl -h127.0.0.1 -P3306 -uroot DATABASE

The database needs the table `cp` that generate_collations.py makes. The file says what a language changes of UCA 9.0.0; what
follows from that is checked here against every code point's weights before anything is written. Numbers are little endian
u16; texts are [units, UTF-16 unit...]. First the Japanese order, then the Chinese one, each:

    ranges:       [count, [first, last, new first, lead]...] of the base's primary weights and of the leads of derived
                  pairs; a lead other than 0 is written before the weight
    ideographs:   [first weight, inside, text]: weights one after another. `inside`: 1 if the characters whose base
                  weights contain those of an ideograph have its weight too, 0 if only the ideograph itself has
    exceptions:   [count, [level, count of weights, weight..., text]...]: characters with these weights on the level
    contractions: [count, [heads, rest, keeps, for each of three levels [count, weight...]]...]: sequences of any one
                  of `heads` with the rest behind it; `keeps`: 1 if the weights are those of the rest, behind the head's own
    kana:         two texts, characters that weigh 2 and 8 on the fourth level
"""
import random
import struct
import subprocess
import sys

FOLDER, CLIENT = sys.argv[1], sys.argv[2:] + ["-N", "--default-character-set=utf8mb4"]
JAPANESE, KANA, CHINESE = "utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_zh_0900_as_cs"
MARKS = "\u309d\u309e\u30fc\u30fd\u30fe"
SYLLABLES = [*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), *range(0x31F0, 0x3200), *range(0xFF66, 0xFFA0)]


def ask(sql):
    done = subprocess.run(CLIENT, input=sql.encode(), capture_output=True)
    if done.returncode:
        raise SystemExit(sql[:200] + "\n" + done.stderr.decode())
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def split(digits):
    """The weights of each level; zero words stand between levels."""
    found = [[]]
    for at in range(0, len(digits), 4):
        weight = int(digits[at : at + 4], 16)
        found.append([]) if weight == 0 else found[-1].append(weight)
    return tuple(map(tuple, found))


def digits_of(collation):
    return {int(row[0]): row[1] for row in ask("select cp, hex(weight_string(c collate %s)) from cp" % collation)}


def digits_of_texts(collation, texts):
    rows = []
    for at in range(0, len(texts), 5000):
        part = ["select hex(weight_string(_utf8mb4 x'%s' collate %s))" % (text.encode().hex(), collation) for text in texts[at : at + 5000]]
        rows += ask(";".join(part))
    return [row[0] for row in rows]


def derived(point):
    base = ask_base[point][0]
    return len(base) == 2 and base[0] in range(0xFB40, 0xFB86) and ((base[0] & 0x3F) << 15 | base[1] & 0x7FFF) == point


def text_of(points):
    units = "".join(map(chr, points)).encode("utf-16-le")
    return [len(units) // 2, *struct.unpack("<%dH" % (len(units) // 2), units)]


class Language:
    """One order: the words that say it, and the weights that follow from them."""

    def __init__(self, own, ranges, first, inside):
        self.ranges, self.inside = ranges, inside
        ideographs = {}
        # A weight belongs to a character that is no other's variant, where there is one.
        for point, weights in sorted(own.items(), key=lambda one: not derived(one[0])):
            if len(weights[0]) == 1 and first <= weights[0][0] < 0xBDBF and weights[0] != ask_base[point][0]:
                ideographs.setdefault(weights[0][0], point)
        last = max(ideographs)
        assert sorted(ideographs) == list(range(first, last + 1))
        self.numbers = {ideographs[weight]: weight for weight in ideographs}
        self.by_pair = {ask_base[point][0]: weight for point, weight in self.numbers.items() if derived(point)}
        listed = [ideographs[weight] for weight in range(first, last + 1)]
        exceptions = {}
        for point, weights in own.items():
            for level, (found, expected) in enumerate(zip(weights, self.model(point), strict=True)):
                if found != expected:
                    exceptions.setdefault((level, found), []).append(point)
        self.words = [len(ranges), *(word for row in ranges for word in row), first, inside, *text_of(listed)]
        self.words.append(len(exceptions))
        for (level, weights), points in sorted(exceptions.items()):
            self.words += [level, len(weights), *weights, *text_of(points)]
        print("ideographs", len(listed), "exceptions", len(exceptions), sum(map(len, exceptions.values())))

    def model(self, point):
        primary, *others = ask_base[point]
        if point in self.numbers:
            return ((self.numbers[point],), *others)
        found, at = [], 0
        while at < len(primary):
            weight = primary[at]
            lead = 0xFB00 <= weight < 0xFC00
            if lead and self.inside and primary[at : at + 2] in self.by_pair:
                found.append(self.by_pair[primary[at : at + 2]])
            else:
                for first, last, new, before in self.ranges:
                    if first <= weight <= last:
                        found += [before] * (before > 0)
                        weight = weight - first + new
                        break
                found += [weight, *primary[at + 1 : at + 1 + lead]]
            at += 1 + lead
        return (tuple(found), *others)


def contraction_words(groups):
    words = [len(groups)]
    for (rest, keeps, weights), heads in sorted(groups.items()):
        words += [*text_of(heads), *text_of(map(ord, rest)), keeps]
        for level in weights:
            words += [len(level), *level]
    return words


def japanese_marks(own):
    pairs = [chr(head) + mark for head in SYLLABLES for mark in MARKS]
    groups = {}
    for pair, digits in zip(pairs, digits_of_texts(JAPANESE, pairs)):
        head, mark, found = own[ord(pair[0])], own[ord(pair[1])], split(digits)
        if found != tuple(one + other for one, other in zip(head, mark)):
            assert all(level[: len(part)] == part for level, part in zip(found, head))
            rest = tuple(level[len(part) :] for level, part in zip(found, head))
            groups.setdefault((pair[1], 1, rest), []).append(ord(pair[0]))
    return groups


def chinese_tones(own):
    letters = [chr(c) for c in [*range(0x41, 0x5B), *range(0x61, 0x7B)]]
    marks = [chr(c) for c in range(0x300, 0x34F)]
    texts = [letter + mark for letter in letters for mark in marks]
    texts += [letter + "\u0302" + mark for letter in letters for mark in marks]
    groups = {}
    for text, digits in zip(texts, digits_of_texts(CHINESE, texts)):
        found, plain = split(digits), tuple(sum(levels, ()) for levels in zip(*(own[ord(c)] for c in text)))
        if found != plain:
            groups.setdefault((text[1:], 0, found), []).append(ord(text[0]))
    return groups


def fnv(hash, data):
    for byte in data:
        hash = (hash ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash


def record(all_digits):
    """recorded_eastern.tsv: hashes (FNV-1a, 64 bits, of the weights' digits, a line feed behind each) of blocks of 4096 code points and
    of all pairs of a range's characters with one before them, then texts and their weights as in recorded.tsv."""
    random.seed(12)
    pieces = [*MARKS, *map(chr, random.sample(SYLLABLES, 40)), *"aMmneE19 -\u0300\u0301\u0302\u0304\u030c\u3099\u4e00\u4e9c\u56fd\u4e02\uf900\u2f00\u337f\U00020000\u03b1\u042f\uac01\u3131\uff70\u0001\U0001f600"]
    texts = ["".join(random.choice(pieces) for _ in range(random.randint(1, 9))) for _ in range(90)]
    texts += ["\u30fc\u304b", "\u30fc\u304b\u304b\u30fc", "e\u0302\u0304", "m\u0300m", "\u304b\u30fc\u30fc"]
    with open(FOLDER + "/recorded_eastern.tsv", "w") as out:
        for name in (JAPANESE, KANA, CHINESE):
            blocks = {}
            for point, digits in sorted(all_digits[name].items()):
                block = point >> 12
                blocks[block] = fnv(blocks.get(block, 0xCBF29CE484222325), digits.encode() + b"\n")
            for block, hash in blocks.items():
                last = {0x30: 0x30000, 0xF0: 0xF0000, 0x10F: 0x10FFFF}.get(block, block << 12 | 0xFFF)
                first = 0x10FFFF if block == 0x10F else block << 12
                print(name, "block", "%X" % first, "%X" % last, "%016X" % hash, sep="\t", file=out)
            for head in "\u304b\u30fc\u30ab\u304c\u309d\uff71\u4e00mE":
                pairs = [head + chr(c) for c in [*range(0x300, 0x34F), *range(0x3000, 0x3200), *range(0xFF61, 0xFFA0)]]
                hash = 0xCBF29CE484222325
                for digits in digits_of_texts(name, pairs):
                    hash = fnv(hash, digits.encode() + b"\n")
                print(name, "pairs", "%X" % ord(head), len(pairs), "%016X" % hash, sep="\t", file=out)
            for text, digits in zip(texts, digits_of_texts(name, texts)):
                print(name, "text", text.encode().hex().upper(), "", digits, sep="\t", file=out)


all_digits = {name: digits_of(name) for name in ("utf8mb4_0900_as_cs", JAPANESE, KANA, CHINESE)}
ask_base = {point: split(digits) for point, digits in all_digits["utf8mb4_0900_as_cs"].items()}
own = {name: {point: split(digits) for point, digits in all_digits[name].items()} for name in (JAPANESE, KANA, CHINESE)}
# Japanese: kana come before the other scripts but Latin, which get a lead in front of them.
ja = Language(own[JAPANESE], [(0x1FB9, 0x3D59, 0x1FB9, 0xFB86), (0x3D5A, 0x3D8B, 0x1FB6, 0), (0x3D8C, 0x54A3, 0x3D8C, 0xFB86)], 0x54A4, 0)
# Chinese: ideographs come before all letters.
moved = [(0x1C47, 0x54A3, 0xBDC4, 0), (0xFB00, 0xFB00, 0xF621, 0), (0xFB40, 0xFB41, 0xBDBF, 0), (0xFB80, 0xFB80, 0xBDC1, 0), (0xFB84, 0xFB85, 0xBDC2, 0)]
zh = Language(own[CHINESE], [*moved, (0xFBC0, 0xFBE1, 0xF622, 0), (0xFFFD, 0xFFFD, 0xFA5F, 0)], 0x1C47, 1)
kinds = {}
for point, weights in own[KANA].items():
    assert weights[:3] == own[JAPANESE][point]
    if len(weights) > 3:
        kinds.setdefault(weights[3], []).append(point)
assert sorted(kinds) == [(2,), (8,)]
numbers = [*ja.words, *contraction_words(japanese_marks(own[JAPANESE])), *text_of(kinds[(2,)]), *text_of(kinds[(8,)])]
numbers += [*zh.words, *contraction_words(chinese_tones(own[CHINESE])), 0, 0]
with open(FOLDER + "/eastern.bin", "wb") as out:
    out.write(struct.pack("<%dH" % len(numbers), *numbers))
print("eastern.bin", len(numbers) * 2, "bytes")
record(all_digits)
