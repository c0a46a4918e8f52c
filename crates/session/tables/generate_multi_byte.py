"""Writes the pinned tables of the character sets of several bytes and of their collations, out of a running MySQL 9.7.

    python3 generate_multi_byte.py OUTPUT_FOLDER mariadb --no-defaults --skip-ssl -h127.0.0.1 -P3306 -uroot DATABASE

The words behind the folder are the client's command line; the database may be empty and gets the tables `b2` and `points`. Every pair
of bytes and every code point is converted both ways, and weighed by WEIGHT_STRING(). All numbers are little endian u16.

A code of two bytes is itself; the three bytes 8F xx yy of ujis and eucjpms are xx << 8 | yy & 0x7F.

multi_byte.bin, for each of SETS: the place of the set it is told apart from (0xFFFF: none); number of runs, then [first code, count,
code point...] each, 0 for a code without a character; number of pairs [code point, code] for code points that are written otherwise
than the greatest code that is read as them says (code 0: not at all). Behind the last set the ranges of GB 18030's codes of four bytes: number,
then [first code point, number of the code it has, count] each; a number is 12600 a + 1260 b + 10 c + d of the bytes 81+a 30+b 81+c 30+d.

multi_byte_orders.bin, for each of ORDERS: 256 weights of single bytes; number of runs, then [first code, count, weight...] each; a code that
is in none weighs itself. Behind the last: gb18030_chinese_ci: 128 weights of single bytes; number of runs of ideographs, then [first code point >> 16, first
code point & 0xFFFF, count, rank...] each (the weight is 0xFFA00000 and the rank); number of pairs [high, low, high, low] of code points
that weigh as others. A code of two bytes weighs itself, one of four bytes 0xFF000000 and its number.

czech.bin, bytes: of cp1250_czech_cs for each byte and for ch, Ch and CH its weights of two passes; of latin2_czech_cs the weights of four passes,
0 where there is none.
"""
import struct
import subprocess
import sys

FOLDER, CLIENT = sys.argv[1], sys.argv[2:] + ["-N", "--default-character-set=utf8mb4"]
SETS = "gbk big5 cp932 ujis euckr gb2312 sjis eucjpms gb18030".split()
BASES = {"gb2312": "gbk", "sjis": "cp932", "eucjpms": "ujis", "gb18030": "gbk"}
ORDERS = "gbk_chinese_ci big5_chinese_ci sjis_japanese_ci ujis_japanese_ci euckr_korean_ci gb2312_chinese_ci".split()
NONE = 0xFFFF


def between(first, last):
    return set(range(first, last + 1))


LEADS = {
    "gbk": between(0x81, 0xFE), "big5": between(0xA1, 0xF9), "cp932": between(0x81, 0x9F) | between(0xE0, 0xFC), "ujis": between(0xA1, 0xFE),
    "euckr": between(0x81, 0xFE), "gb2312": between(0xA1, 0xF7), "gb18030": between(0x81, 0xFE),
}
TRAILS = {
    "gbk": between(0x40, 0x7E) | between(0x80, 0xFE), "big5": between(0x40, 0x7E) | between(0xA1, 0xFE), "cp932": between(0x40, 0x7E) | between(0x80, 0xFC),
    "ujis": between(0xA1, 0xFE), "euckr": between(0x41, 0x5A) | between(0x61, 0x7A) | between(0x81, 0xFE), "gb2312": between(0xA1, 0xFE),
}
for same, other in [("sjis", "cp932"), ("eucjpms", "ujis"), ("gb18030", "gbk")]:
    LEADS[same], TRAILS[same] = LEADS[other], TRAILS[other]


def ask(sql):
    done = subprocess.run(CLIENT, input=("set sql_mode='';" + sql).encode(), capture_output=True)
    if done.returncode:
        raise SystemExit(sql[:200] + "\n" + done.stderr.decode())
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def fill(table, kind, rows):
    ask("create table if not exists %s (n int primary key, b %s)" % (table, kind))
    if ask("select count(*) from " + table) != [[str(len(rows))]]:
        for at in range(0, len(rows), 4096):
            ask("insert ignore into %s values " % table + ",".join("(%d,%s)" % row for row in rows[at : at + 4096]))


def prepare():
    fill("b2", "varbinary(4)", [(n, "x'%04x'" % n) for n in range(65536)])
    points = [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1000), 0x30000, *range(0xF0000, 0xF0100), 0x10FFFF]
    fill("points", "varchar(4) character set utf8mb4 collate utf8mb4_bin", [(p, "_utf8mb4 x'%s'" % chr(p).encode().hex()) for p in points])


def code_of(digits):
    """The code of a character's bytes; None for four of them."""
    if len(digits) <= 4:
        return int(digits, 16)
    if len(digits) == 6:
        assert digits[:2] == "8F"
        return int(digits[2:], 16) & 0xFF7F
    return None


def bytes_of(name, code):
    if name in ("ujis", "eucjpms") and code & 0x80 == 0:
        return "8f%04x" % (code | 0x80)
    return "%04x" % code


def reads(name):
    """Code points by code, of codes of two and three bytes; 0 where there is none."""
    found = {}
    three = name in ("ujis", "eucjpms")
    for expression, change in [("b", lambda n: n)] + [("concat(x'8f', b)", lambda n: n & 0xFF7F)] * three:
        rows = ask("select n, hex(convert(%s using %s)), ifnull(hex(convert(convert(%s using %s) using utf32)), '') from b2 where n >= 0x8000" % ((expression, name) * 2))
        for number, own, unicode in rows:
            number = int(number)
            lead, trail = number >> 8, number & 0xFF
            whole = own == ("8F" if "8f" in expression else "") + "%04X" % number and len(unicode) == 8
            if three and expression == "b" and lead == 0x8E:
                legal = trail in between(0xA1, 0xDF)
            else:
                legal = lead in LEADS[name] and trail in TRAILS[name]
            if name in ("sjis", "cp932") and lead in between(0xA1, 0xDF):
                legal = False
            assert whole == legal or (name == "eucjpms" and lead < 0xA1), (name, hex(number), own, unicode)
            if legal:
                point = int(unicode, 16)
                found[change(number)] = 0 if point in (0x3F, 0xFFFD) else point
    return found


def writes(name):
    rows = ask("select n, hex(convert(b using %s)) from points" % name)
    return {int(n): digits for n, digits in rows if digits != "3F" or n == "63"}


def runs(pairs):
    """[first, count, value...] for values at numbers that follow one another."""
    out, number = [], 0
    at = sorted(pairs)
    begin = 0
    while begin < len(at):
        end = begin
        while end + 1 < len(at) and at[end + 1] - at[end] <= 3:
            end += 1
        # Small gaps are filled: a run costs two words.
        first, last = at[begin], at[end]
        out += [first, last - first + 1] + [pairs.get(n, NONE) for n in range(first, last + 1)]
        number += 1
        begin = end + 1
    return [number] + out


def write(name, numbers):
    with open(FOLDER + "/" + name, "wb") as out:
        out.write(struct.pack("<%dH" % len(numbers), *numbers))
    print(name, len(numbers) * 2, "bytes")


def number_of(digits):
    a, b, c, d = bytes.fromhex(digits)
    return (a - 0x81) * 12600 + (b - 0x30) * 1260 + (c - 0x81) * 10 + d - 0x30


def sets():
    numbers, all_reads = [], {}
    for name in SETS:
        read, written = reads(name), writes(name)
        # MySQL reads some codes of several bytes as a backslash or a tilde. Text is read before statements are taken apart, so here they are
        # the wide ones that they look like: a character of several bytes must never be an escape.
        for code, point in list(read.items()):
            if 0 < point < 0x80:
                wide = point + 0xFEE0
                print(name, hex(code), "reads as", hex(point), "other codes", [hex(one) for one in read if read[one] == wide])
                read[code], written[point], written[wide] = wide, "%02X" % point, bytes_of(name, code).upper()
        all_reads[name] = read
        base = BASES.get(name)
        own = read if base is None else {code: point for code, point in read.items() if all_reads[base].get(code) != point}
        # A code of the base that is none here is refused by its bytes.
        numbers += [NONE if base is None else SETS.index(base)] + runs(own)
        expected = {point: code for code, point in sorted(read.items()) if point}
        pairs = []
        for point in range(0x80, 0x10000):
            digits = written.get(point) if point != 0xFFFD or name == "gb18030" else None
            code = 0 if digits is None else code_of(digits)
            if name in ("sjis", "cp932") and 0xFF61 <= point <= 0xFF9F:
                assert code == point - 0xFF61 + 0xA1
                continue
            if code is not None and code != expected.get(point, 0):
                pairs += [point, code]
            assert code is not None or point not in expected or name != "gb18030", hex(point)
        numbers += [len(pairs) // 2] + pairs
        print(name, len(read), "codes", len(own), "own", len(pairs) // 2, "pairs")
        for point in range(0x80):
            assert written[point] == "%02X" % point, (name, point, written.get(point))
        if name == "gb18030":
            ranges, last = [], None
            for point in [*range(0x80, 0xD800), *range(0xE000, 0x10000)]:
                digits = written.get(point, "")
                if len(digits) != 8:
                    last = None
                    continue
                number = number_of(digits)
                if last is None or number != last + 1:
                    ranges += [point, number, 0]
                ranges[-1] += 1
                last = number
            for point in [0x10000, 0x10FFFF, 0x2A6D6, 0xE0001]:
                assert number_of(written[point]) == 189000 + point - 0x10000
            numbers += [len(ranges) // 3] + ranges
            global GB18030
            GB18030 = written
    write("multi_byte.bin", numbers)


def orders():
    numbers = []
    for name in ORDERS:
        charset = name.split("_")[0]
        three = charset == "ujis"
        rows = ask("select n, hex(convert(b using {0})), hex(weight_string(convert(b using {0}) collate {1})) from b2 where n >= 0x8000".format(charset, name))
        rows += [[str(n & 0xFF), "%02X" % (n & 0xFF), row] for n, (row,) in enumerate(ask("select hex(weight_string(convert(substr(b, 2) using %s) collate %s)) from b2 where n < 256 order by n" % (charset, name)))]
        single, pairs = list(range(256)), {}
        for number, own, weight in rows:
            number = int(number)
            if number < 256 and weight:
                single[number] = int(weight, 16)
            elif number >= 0x8000 and own == "%04X" % number and int(weight, 16) != number:
                lead = number >> 8
                if not (charset == "sjis" and lead in between(0xA1, 0xDF)):
                    pairs[number] = int(weight, 16)
        if three:
            rows = ask("select hex(concat(x'8f', b)), hex(weight_string(convert(concat(x'8f', b) using ujis) collate ujis_japanese_ci)) from b2 where n >= 0xa1a1 and n & 0xff >= 0xa1 and n & 0xff < 0xff and n < 0xff00")
            assert all(own == weight for own, weight in rows)
        print(name, "singles", sum(single[n] != n for n in range(256)), "codes", len(pairs))
        numbers += single + runs(pairs)
    for name, other in [("cp932_japanese_ci", "sjis_japanese_ci"), ("eucjpms_japanese_ci", "ujis_japanese_ci")]:
        for a, b in zip(*(ask("select hex(weight_string(convert(b using %s) collate %s)) from b2 where hex(convert(b using sjis)) = hex(b)" % (one.split("_")[0], one)) for one in (name, other))):
            assert a == b or name[0] == "e"
    return numbers


def gb18030(numbers):
    weights = {int(n): weight for n, weight in ask("select n, hex(weight_string(convert(b using gb18030) collate gb18030_chinese_ci)) from points")}
    # A code of two bytes weighs itself, one of four 0xFF000000 and its number; letters weigh as their capitals.
    plain = {point: digits if len(digits) < 8 else "FF%06X" % number_of(digits) for point, digits in GB18030.items()}
    by_weight = {weight: point for point, weight in plain.items()}
    ranks, others = {}, {}
    for point, weight in weights.items():
        if point < 0x80 or weight == plain[point]:
            continue
        if weight.startswith("FFA0"):
            ranks[point] = int(weight[4:], 16)
        else:
            others[point] = by_weight[weight]
    numbers += [int(weights[n], 16) for n in range(128)]
    out, number, last = [], 0, None
    for point in sorted(ranks):
        if last is None or point != last + 1:
            out += [point >> 16, point & 0xFFFF, 0]
            place = len(out) - 1
            number += 1
        out[place] += 1
        out.append(ranks[point])
        last = point
    numbers += [number] + out + [len(others)]
    for point, other in sorted(others.items()):
        numbers += [point >> 16, point & 0xFFFF, other >> 16, other & 0xFFFF]
    print("gb18030_chinese_ci", len(ranks), "ideographs in", number, "runs", len(others), "others")
    write("multi_byte_orders.bin", numbers)


def czech():
    out = b""
    texts = ["%02x" % byte for byte in range(256)] + ["6368", "4368", "4348"]
    for charset, passes in [("cp1250", 2), ("latin2", 4)]:
        for text in texts:
            weights = bytes.fromhex(ask("select hex(weight_string(_%s x'%s' collate %s_czech_cs))" % (charset, text, charset))[0][0])
            parts = weights[:-1].split(b"\1") if passes == 4 else [weights[:1], weights[1:]]
            assert len(parts) == passes and all(len(part) <= 1 for part in parts)
            out += b"".join(part or b"\0" for part in parts)
    with open(FOLDER + "/czech.bin", "wb") as file:
        file.write(out)
    print("czech.bin", len(out), "bytes")


def record():
    """recorded_multi_byte.tsv: for each collation texts (UTF-8, hexadecimal) and their WEIGHT_STRING, which the tests compare ours with."""
    names = ask("select collation_name, character_set_name from information_schema.collations where character_set_name in ('tis620', '%s') or collation_name like '%%czech_cs' order by id" % "', '".join(SETS))
    with open(FOLDER + "/recorded_multi_byte.tsv", "w") as out:
        for name, charset in names:
            texts = []
            for nth in range(6):
                some = "cChHaA BzZ~-_ 19\t" + "".join(chr(point) for point in [*range(0xA0 + nth, 0x3400, 61), *range(0x3400 + nth, 0xFFF0, 397), *range(0x20000 + nth, 0x2A600, 2399)] if not 0xD800 <= point < 0xE000)
                if charset in ("tis620", "cp1250", "latin2"):
                    some = "aCh bcH9.- \u0e40\u0e01\u0e48\u0e02\u0e44\u0e27 a" + "".join(chr(0xA0 + at * (nth + 3) % 0x1E0) for at in range(60)) + "".join(chr(0xE01 + at * (nth + 5) % 0x5A) for at in range(60))
                text = "convert(replace(convert(convert(_utf8mb4 x'%s' using %s) using utf8mb4), '?', '') using %s)" % (some.encode().hex(), charset, charset)
                texts.append("select hex(convert(x using utf8mb4)), hex(weight_string(x collate %s)) from (select %s x) t" % (name, text))
            for row in ask(";".join(texts)):
                print(name, *row, sep="\t", file=out)


prepare()
czech()
record()
sets()
gb18030(orders())
