# Sourced by the scripts that count what a statement costs: a server of a given binary over a data directory of its own, and sysbench against
# it. Before: `binary`, `workload`, `rows`, and `flags`, the server's options. After: the functions here, and `work`, a folder that goes.
script=$workload
stock=(--tables=1 --table-size="$rows" --rand-type=uniform --rand-seed=7)
[ -e "$workload.lua" ] && script=$PWD/$workload.lua stock=()
work=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
server=
stop() { [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true; server=; }
trap 'stop; rm -rf "$work"' EXIT
ulimit -n "$(ulimit -Hn)"
ask() { mariadb --skip-ssl -h127.0.0.1 -P"$port" -uroot -e "$1" >/dev/null 2>&1; }
start() { # start FOLDER [COMMAND...]
    local folder=$1
    shift
    "$@" "$binary" serve --no-defaults --datadir="$folder" --port="$port" --socket="$work/sock" --max-connections=6000 "${flags[@]}" >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 600); do ask 'CREATE DATABASE IF NOT EXISTS bench' && return; sleep 0.2; done
    tail "$work/log" >&2
    exit 1
}
drive() { # drive SYSBENCH_ARGUMENT...
    sysbench "$script" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=bench \
        "${stock[@]}" --db-ps-mode="${PS_MODE:-disable}" "$@" >"$work/sysbench" 2>&1 || { tail "$work/sysbench" >&2; exit 1; }
}
fill() {
    if [ ${#stock[@]} -eq 0 ]; then
        ask 'CREATE TABLE bench.test_update (id int NOT NULL AUTO_INCREMENT, stock int, PRIMARY KEY (id)); INSERT INTO bench.test_update VALUES (1, 2000000000)'
    else
        drive prepare
    fi
}
warm_up() { [ ${#stock[@]} -eq 0 ] || ask 'SELECT COUNT(*) FROM bench.sbtest1'; }
