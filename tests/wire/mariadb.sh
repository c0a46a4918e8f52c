#!/usr/bin/env bash
# The mariadb command line client: text protocol, multi-statements, SHOW, errors, TLS, Unix socket, a large value.
set -euo pipefail
sql() { mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -N -B "$@"; }
# The client shows a failed statement before the error; only the error is of interest.
error_of() { sql "$@" 2>&1 | grep ^ERROR || true; }
expect() { # expect WANTED GOT
    [ "$1" = "$2" ] || { printf 'expected: %s\n     got: %s\n' "$1" "$2" >&2; exit 1; }
}

sql -e 'DROP DATABASE IF EXISTS wire; CREATE DATABASE wire'
expect $'1\tone\n2\tNULL' "$(sql wire -e 'CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1,"one"),(2,NULL); SELECT * FROM t ORDER BY id')"
expect $'3\t6' "$(sql wire -e 'SELECT 1+2; SELECT 2*3' | paste -sd '\t')"
expect t "$(sql wire -e 'SHOW TABLES')"
expect 'wire' "$(sql wire -e 'SELECT DATABASE()')"
# Errors: number, SQLSTATE and text; the script goes on with --force.
out=$(error_of wire -e 'INSERT INTO t VALUES (1,"again")')
expect "ERROR 1062 (23000) at line 1: Duplicate entry '1' for key 't.PRIMARY'" "$out"
out=$(error_of wire -e 'SELECT * FROM missing')
expect "ERROR 1146 (42S02) at line 1: Table 'wire.missing' doesn't exist" "$out"
out=$(error_of wire -e 'SELEC 1')
case $out in "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax"*) ;; *) echo "$out" >&2; exit 1 ;; esac
out=$(mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u nobody -e 'SELECT 1' 2>&1 || true)
case $out in *"ERROR 1045 (28000)"*) ;; *) echo "$out" >&2; exit 1 ;; esac
# Unix socket and TLS.
expect 1 "$(mariadb --no-defaults -S "$WIRE_SOCKET" -u root -N -B -e 'SELECT 1')"
out=$(mariadb --no-defaults --ssl --skip-ssl-verify-server-cert -h "$WIRE_HOST" -P "$WIRE_PORT" -u root -N -B -e "SELECT 1" 2>&1)
expect 1 "$out"
# A 3 MB value there and back.
sql wire -e 'CREATE TABLE big (id INT PRIMARY KEY, v LONGTEXT)'
{ printf 'INSERT INTO big VALUES (1,"'; head -c 3000000 /dev/zero | tr '\0' x; printf '")'; } | sql wire --max-allowed-packet=16M
expect 3000000 "$(sql wire -e 'SELECT LENGTH(v) FROM big')"
expect 3000000 "$(sql wire --max-allowed-packet=16M -e 'SELECT v FROM big' | tr -d '\n' | wc -c)"
# Accounts: native and caching_sha2 (over TLS), change and drop.
sql -e "CREATE USER 'wire_native'@'%' IDENTIFIED WITH mysql_native_password BY 'secret'; GRANT ALL ON wire.* TO 'wire_native'@'%'"
expect 2 "$(mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u wire_native -psecret -N -B wire -e 'SELECT COUNT(*) FROM t')"
out=$(mariadb --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u wire_native -pwrong -e 'SELECT 1' 2>&1 || true)
case $out in *"ERROR 1045 (28000)"*"using password: YES"*) ;; *) echo "$out" >&2; exit 1 ;; esac
sql -e "DROP USER 'wire_native'@'%'"
# A dump with its default locks, and back.
sql wire -e 'CREATE TABLE kept (id INT PRIMARY KEY, v VARCHAR(20), KEY (v)); INSERT INTO kept VALUES (1,"one"),(2,NULL)'
dump() { mariadb-dump --no-defaults --skip-ssl -h "$WIRE_HOST" -P "$WIRE_PORT" -u root "$@" wire kept; }
plain=$(dump --skip-dump-date)
case $plain in *'LOCK TABLES `kept` WRITE'*) ;; *) echo "$plain" >&2; exit 1 ;; esac
expect "$plain" "$(dump --skip-dump-date --lock-all-tables)"
sql wire -e 'DROP TABLE kept'
printf '%s\n' "$plain" | sql wire
expect $'1\tone\n2\tNULL' "$(sql wire -e 'SELECT * FROM kept ORDER BY id')"
sql -e 'DROP DATABASE wire'
