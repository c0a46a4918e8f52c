#!/usr/bin/env bash
# All 11 stock sysbench 1.0 OLTP scripts, text and prepared, at 1 and 16 threads. No ignored error may be fatal; every script must do work.
set -euo pipefail
mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -e 'DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest'
common=(--db-driver=mysql --mysql-host="$WIRE_HOST" --mysql-port="$WIRE_PORT" --mysql-user=root --mysql-db=sbtest --tables=2 --table-size=2000)
run() { sysbench "$@" 2>&1 || { echo "failed: sysbench $*" >&2; return 1; }; }
scripts="oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_update_index oltp_update_non_index oltp_delete oltp_insert select_random_points select_random_ranges bulk_insert"
for mode in disable auto; do
    for script in $scripts; do
        run "$script" "${common[@]}" --threads=2 prepare >/dev/null
        for threads in 1 16; do
            out=$(run "$script" "${common[@]}" --db-ps-mode=$mode --threads=$threads --time=1 run)
            done_=$(sed -n 's/^ *transactions: *\([0-9]*\) .*/\1/p' <<<"$out")
            [ "$script" = bulk_insert ] && done_=$(sed -n 's/^ *queries: *\([0-9]*\) .*/\1/p;s/^ *total number of events: *\([0-9]*\)/\1/p' <<<"$out" | tail -1)
            [ "${done_:-0}" -gt 0 ] || { echo "$script with $threads threads did nothing:" >&2; echo "$out" >&2; exit 1; }
        done
        run "$script" "${common[@]}" --threads=2 cleanup >/dev/null
    done
done
mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -e 'DROP DATABASE sbtest'
