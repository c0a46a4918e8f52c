"""PyMySQL: types, NULLs, unicode, transactions, duplicate keys, executemany, caching_sha2 over TLS, kill, large packets."""
import datetime
import decimal
import os
import ssl
import threading

import pymysql

PLACE = dict(host=os.environ["WIRE_HOST"], port=int(os.environ["WIRE_PORT"]), user="root", charset="utf8mb4")


def code(call):
    """The MySQL error number that a call raises."""
    try:
        call()
    except pymysql.MySQLError as error:
        return error.args[0]
    raise AssertionError("an error was expected")


connection = pymysql.connect(**PLACE)
cursor = connection.cursor()
cursor.execute("DROP DATABASE IF EXISTS wire_py")
cursor.execute("CREATE DATABASE wire_py")
cursor.execute("USE wire_py")
cursor.execute("""CREATE TABLE kinds (
    id INT AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, big BIGINT UNSIGNED, price DECIMAL(12,3), ratio DOUBLE, name VARCHAR(50),
    body TEXT, raw VARBINARY(20), born DATE, at DATETIME(6), span TIME, UNIQUE KEY by_name (name), KEY by_big (big))""")
row = (-7, 2**64 - 1, decimal.Decimal("-12.345"), 2.5, "naïve ☃ 😀", "body\n'quoted'", b"\x00\xff\x01", datetime.date(2024, 2, 29),
       datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), datetime.timedelta(hours=-30, minutes=-5))
columns = "tiny, big, price, ratio, name, body, raw, born, at, span"
# PyMySQL writes a negative timedelta wrongly (-30:05 becomes -31:55), so the time goes out as text.
cursor.execute(f"INSERT INTO kinds ({columns}) VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)", (*row[:-1], "-30:05:00"))
assert cursor.lastrowid == 1 and cursor.rowcount == 1
connection.commit()
cursor.execute(f"SELECT {columns} FROM kinds")
got = cursor.fetchone()
assert got == row, got
cursor.execute("INSERT INTO kinds (name) VALUES (NULL)")
cursor.execute("SELECT tiny, name, at FROM kinds WHERE id = 2")
assert cursor.fetchone() == (None, None, None)
connection.rollback()
cursor.execute("SELECT COUNT(*) FROM kinds")
assert cursor.fetchone() == (1,)
assert code(lambda: cursor.execute("INSERT INTO kinds (name) VALUES ('naïve ☃ 😀')")) == 1062
assert code(lambda: cursor.execute("INSERT INTO kinds (tiny) VALUES (1000)")) == 1264
assert code(lambda: cursor.execute("INSERT INTO kinds (name) VALUES (REPEAT('x', 51))")) == 1406
assert code(lambda: cursor.execute("SELECT nope FROM kinds")) == 1054
connection.rollback()
cursor.executemany("INSERT INTO kinds (name, big) VALUES (%s, %s)", [(f"n{i}", i) for i in range(500)])
assert cursor.rowcount == 500
connection.commit()
cursor.execute("SELECT SUM(big), COUNT(*), MIN(name), MAX(name) FROM kinds WHERE big BETWEEN 10 AND 19")
assert cursor.fetchone() == (decimal.Decimal(145), 10, "n10", "n19")
cursor.execute("UPDATE kinds SET ratio = big * 1.5 WHERE big < 10")
assert cursor.rowcount == 10
cursor.execute("DELETE FROM kinds WHERE big < 10")
assert cursor.rowcount == 10
connection.rollback()
cursor.execute("SELECT COUNT(*) FROM kinds WHERE big < 10 AND ratio IS NULL")
assert cursor.fetchone() == (10,)

# Two sessions on one row: lock wait timeout, then the kill of a waiter.
other = pymysql.connect(**PLACE, database="wire_py", autocommit=True)
cursor.execute("SELECT name FROM kinds WHERE id = 1 FOR UPDATE")
waiting = other.cursor()
waiting.execute("SET innodb_lock_wait_timeout = 1")
assert code(lambda: waiting.execute("UPDATE kinds SET tiny = 1 WHERE id = 1")) == 1205
assert code(lambda: waiting.execute("SELECT * FROM kinds WHERE id = 1 FOR UPDATE NOWAIT")) == 3572
waiting.execute("SET innodb_lock_wait_timeout = 50")
# One waits for a lock, the other computes without end; neither may keep other sessions from being served.
for victim in ("UPDATE kinds SET tiny = 1 WHERE id = 1", "SELECT COUNT(*) FROM kinds a, kinds b, kinds c, kinds d, kinds e"):
    failed = []
    thread = threading.Thread(target=lambda: failed.append(code(lambda: waiting.execute(victim))))
    thread.start()
    while True:
        cursor.execute("SELECT COUNT(*) FROM information_schema.processlist WHERE id = %s AND info = %s", (other.thread_id(), victim))
        if cursor.fetchone() == (1,):
            break
    for _ in range(8):
        with pymysql.connect(**PLACE) as newcomer, newcomer.cursor() as asked:
            asked.execute("SELECT 1")
    cursor.execute(f"KILL QUERY {other.thread_id()}")
    thread.join(10)
    assert failed == [1317], failed
connection.rollback()

# Accounts: caching_sha2_password without TLS, by the server's RSA key (full), wrong and right.
cursor.execute("DROP USER IF EXISTS wire_rsa")
cursor.execute("CREATE USER 'wire_rsa'@'%' IDENTIFIED BY 'a password longer than the scramble is'")
plain = dict(PLACE, user="wire_rsa", password="a password longer than the scramble is")
assert code(lambda: pymysql.connect(**dict(plain, password="wrong"))) == 1045
for _ in range(2):
    with pymysql.connect(**plain) as encrypted, encrypted.cursor() as asked:
        asked.execute("SELECT CURRENT_USER()")
        assert asked.fetchone() == ("wire_rsa@%",)
assert code(lambda: pymysql.connect(**dict(plain, password="wrong"))) == 1045
assert code(lambda: pymysql.connect(**dict(plain, user="wire_nobody"))) == 1045
cursor.execute("DROP USER 'wire_rsa'@'%'")

# caching_sha2_password over TLS (full), then the fast path without TLS.
cursor.execute("DROP USER IF EXISTS wire_py")
cursor.execute("CREATE USER 'wire_py'@'%' IDENTIFIED BY 'päss'")
cursor.execute("GRANT SELECT ON wire_py.* TO 'wire_py'@'%'")
# As bytes: PyMySQL would send a text as Latin-1.
account = dict(PLACE, user="wire_py", password="päss".encode(), database="wire_py")
loose = ssl.create_default_context()
loose.check_hostname = False
loose.verify_mode = ssl.CERT_NONE
with pymysql.connect(**account, ssl=loose) as secure:
    with secure.cursor() as asked:
        asked.execute("SELECT COUNT(*) FROM kinds")
        assert asked.fetchone() == (501,)
        assert code(lambda: asked.execute("DELETE FROM kinds")) == 1142
with pymysql.connect(**account) as fast:
    with fast.cursor() as asked:
        asked.execute("SELECT CURRENT_USER()")
        assert asked.fetchone() == ("wire_py@%",)
assert code(lambda: pymysql.connect(**dict(account, password="wrong"), ssl=loose)) == 1045
cursor.execute("DROP USER 'wire_py'@'%'")

# A statement of 20 MB is more than one packet.
cursor.execute("CREATE TABLE big (id INT PRIMARY KEY, v LONGBLOB)")
blob = bytes(range(256)) * 40_000
cursor.execute("INSERT INTO big VALUES (1, %s)", (blob,))
cursor.execute("SELECT v FROM big WHERE id = 1")
assert cursor.fetchone()[0] == blob
connection.commit()
cursor.execute("DROP DATABASE wire_py")
connection.close()
