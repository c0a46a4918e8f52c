"""Reads what valgrind's lackey tells of a server (memory accesses, system calls, which thread runs) and counts the cache lines that a
statement writes and that other threads write as well. Called by bench/shared_lines, which says what the numbers mean.

    python3 shared_lines.py TRACE PHASES BASE_FILE BINARY TOLD_FILE

TRACE is a pipe. The file PHASES is there while the statements that count are running. A thread's time is cut into
turns: from one socket read to the next. Of each turn the lines are kept that it has written, with the place in the code that wrote each of
them first and how often it was written.
"""

import collections
import json
import os
import re
import subprocess
import sys

LINE_BITS = 6
# Of four workers.
WRITERS_MIN = 3
# Numbers of x86-64 system calls.
READS = {0, 45}
NAMES = {0: "read", 1: "write", 44: "sendto", 45: "recvfrom", 202: "futex", 232: "epoll_wait", 281: "epoll_pwait", 18: "pwrite64", 75: "fdatasync", 228: "clock_gettime"}

EVENT = re.compile(rb"(?:\nI  ([0-9a-f]+),\d+(?:\n L [0-9a-f]+,\d+)*)?\n [SM] ([0-9a-f]+),\d+|SCHED\[(\d+)\]: +acquired|SYSCALL\[\d+,(\d+)\]\((\d+)\)")


class Counts:
    def __init__(self):
        self.turns = collections.Counter()
        # (line, thread) -> turns that wrote it; (line, thread, site) -> turns in which that place wrote it first.
        self.written = collections.Counter()
        self.sites = collections.Counter()
        self.stores = collections.Counter()
        self.calls = collections.Counter()

    def end_turn(self, thread, lines):
        self.turns[thread] += 1
        for line, (site, times) in lines.items():
            self.written[line, thread] += 1
            self.sites[line, site] += 1
            self.stores[line] += times


def read(trace, phases):
    counts, thread, lines_of = Counts(), 1, collections.defaultdict(dict)
    counting, rest = False, b""
    with open(trace, "rb", buffering=0) as pipe:
        while chunk := pipe.read(1 << 20):
            was, counting = counting, os.path.exists(phases)
            if counting and not was:
                lines_of.clear()
            text = rest + chunk
            cut = text.rfind(b"\nI  ")
            cut = len(text) if cut < 0 else cut
            rest, text = text[cut:], text[:cut]
            if not counting:
                # Which thread runs is all that must be known.
                at = text.rfind(b"SCHED[", 0, max(text.rfind(b"acquired lock"), 0))
                if at >= 0:
                    thread = int(text[at + 6:text.index(b"]", at)])
                continue
            lines = lines_of[thread]
            for site, address, runs, caller, call in EVENT.findall(text):
                if address:
                    line = int(address, 16) >> LINE_BITS
                    known = lines.get(line)
                    lines[line] = (site, 1) if known is None else (known[0], known[1] + 1)
                elif runs:
                    thread = int(runs)
                    lines = lines_of[thread]
                else:
                    thread, number = int(caller), int(call)
                    lines = lines_of[thread]
                    counts.calls[number] += 1
                    if number in READS:
                        counts.end_turn(thread, lines)
                        lines.clear()
    for thread, lines in lines_of.items():
        counts.end_turn(thread, lines)
    return counts


def shared(counts):
    """The lines that most workers write, each of them in at least one of twenty of the turns that write the line. A line that two write
    belongs to a session that went from one worker to another."""
    writers = collections.defaultdict(list)
    for (line, thread), turns in counts.written.items():
        writers[line].append(turns)
    return {line: sum(turns) for line, turns in writers.items()
            if len(turns) >= WRITERS_MIN and sorted(turns)[-WRITERS_MIN] >= max(2, sum(turns) / 20)}


def places(sites, base, binary):
    """Where in the sources an address is: the innermost frame that is the product's own, or else the outermost."""
    offsets = {site: int(site, 16) - base for site in sites if site}
    asked = "\n".join(hex(offset) for offset in offsets.values())
    told = subprocess.run(["addr2line", "-a", "-i", "-C", "-f", "-e", binary], input=asked, capture_output=True, text=True).stdout
    found = {}
    for block in re.split(r"(?m)^(?=0x[0-9a-f]+$)", told):
        head, *frames = block.splitlines() or [""]
        pairs = list(zip(frames[::2], frames[1::2]))
        own = [(name, place[place.find("crates/"):].split(" ")[0]) for name, place in pairs if "crates/" in place]
        if own:
            found[int(head, 16)] = f"{own[0][1]} {own[0][0].split('::')[-1]}"
        elif pairs:
            found[int(head, 16)] = pairs[-1][0][:60]
    return {site: found.get(offset, "?") for site, offset in offsets.items()}


def main():
    trace, phases, base_file, binary, told_file = sys.argv[1:]
    counts = read(trace, phases)
    told = json.load(open(told_file))
    statements = told["statements"]
    lines = shared(counts)
    names = places({site for (line, site) in counts.sites if line in lines}, int(open(base_file).read(), 16), binary)
    by_place = collections.Counter()
    by_line = collections.defaultdict(collections.Counter)
    for (line, site), turns in counts.sites.items():
        if line in lines:
            by_place[names.get(site, "?")] += turns
            by_line[line][names.get(site, "?")] += turns
    each = lambda number: round(number / statements, 3)
    result = {
        **told,
        "threads": len(counts.turns),
        "shared_lines": each(sum(lines.values())),
        "lines": each(sum(counts.written.values())),
        "stores_to_shared_lines": each(sum(counts.stores[line] for line in lines)),
        "system_calls": {NAMES.get(number, str(number)): each(times) for number, times in counts.calls.most_common(8)},
        "places": {place: each(times) for place, times in by_place.most_common(40)},
        "hottest": [[hex(line << LINE_BITS), each(turns), [f"{place}: {each(times)}" for place, times in by_line[line].most_common(4)]]
                    for line, turns in sorted(lines.items(), key=lambda pair: -pair[1])[:40]],
    }
    json.dump(result, sys.stdout, indent=1)
    print()


main()
