#!/usr/bin/env bash
# All 11 stock sysbench 1.0 OLTP scripts, text and prepared, at 1 and 16 threads. No ignored error may be fatal; every script must do work.
set -euo pipefail
mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -e 'DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest'
common=(--db-driver=mysql --mysql-host="$WIRE_HOST" --mysql-port="$WIRE_PORT" --mysql-user=root --mysql-db=sbtest --table-size=2000)
run() {
    local out
    out=$(sysbench "$@" 2>&1) || { printf '%s\nfailed: sysbench %s\n' "$out" "$*" >&2; return 1; }
    echo "$out"
}
scripts="oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_update_index oltp_update_non_index oltp_delete oltp_insert select_random_points select_random_ranges bulk_insert"
for mode in disable auto; do
    for script in $scripts; do
        tables=2
        case $script in select_random_*) tables=1 ;; esac # They accept no more.
        for threads in 1 16; do
            options=("${common[@]}" --tables=$tables --threads=$threads)
            run "$script" "${options[@]}" prepare >/dev/null
            out=$(run "$script" "${options[@]}" --db-ps-mode=$mode --time=1 run)
            count=$(sed -n 's/^ *total number of events: *\([0-9]*\)/\1/p' <<<"$out")
            [ "${count:-0}" -gt 0 ] || { echo "$script with $threads threads did nothing:" >&2; echo "$out" >&2; exit 1; }
            run "$script" "${options[@]}" cleanup >/dev/null
        done
    done
done
mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -e 'DROP DATABASE sbtest'
