"""Random privileges and random statements, put to MySQL and to Turnstile: what is allowed, and how the rest is refused.

  python3 tests/wire/random_rights.py ROUNDS SEED MYSQL_SOCKET MYSQL_PORT TURNSTILE_SOCKET TURNSTILE_PORT

Both servers have a root without password at the socket. The databases, the account `rr` and the roles `rr1` to `rr4`
are made anew in each round: privileges on everything, patterns of databases, tables and columns go to the account and
to roles, roles to it and to each other, some with ADMIN OPTION, some mandatory, and while the account's session is open
roles are activated, revoked, dropped and made again, privileges on tables and columns come and go, and statements
prepared before are executed again. What differs is printed with its round.

Differences that stay: MySQL does not ask for columns of a derived table that nobody reads, and forgets what is granted
on a table when the database's privileges are enough for the first of the statement's kinds of use (a DELETE or UPDATE
with WHERE). JOIN USING and NATURAL JOIN are left out: MySQL does not ask for their columns. With a role active MySQL
says 1142 where it says 1143 without; after SET ROLE DEFAULT of an account without default roles it keeps what the roles
before held on everything. Of several patterns that fit a database the most specific counts; with a role active MySQL
takes the first by name. MySQL 9.7 leaves the names out of 1451 and 1452 where 8.4 says 1217 and 1216.
"""
import random
import sys

import pymysql

rounds, seed = int(sys.argv[1]), int(sys.argv[2])
servers = {'m': (sys.argv[3], int(sys.argv[4])), 't': (sys.argv[5], int(sys.argv[6]))}
R = random.Random(seed)
READ = {'t': 'abc', 'u': 'abx', 'v': 'ay', 'k': 'abgh', 'p': 'ak', 'q': 'apr'}
WRITTEN = {**READ, 'k': 'ab'}
TABLES = 'tuvkpq'
MAKE = [
    'CREATE TABLE rr.t (a INT PRIMARY KEY, b INT, c INT)',
    'CREATE TABLE rr.u (a INT, b INT, x INT, KEY bx (b, x))',
    'CREATE TABLE rr.v (a INT, y INT DEFAULT (1 + 1), CHECK (a < 1000000))',
    'CREATE TABLE rr.k (a INT PRIMARY KEY, b INT, g INT AS (a + b), h INT AS (b * 2) STORED, UNIQUE KEY hk (h))',
    'CREATE TABLE rr.p (a INT PRIMARY KEY, k INT, UNIQUE KEY uk (k))',
    'CREATE TABLE rr.q (a INT PRIMARY KEY, p INT, r INT, CONSTRAINT fp FOREIGN KEY (p) REFERENCES p (a) '
    'ON DELETE CASCADE, CONSTRAINT fr FOREIGN KEY (r) REFERENCES p (k))',
    'INSERT INTO rr.t VALUES (1,1,1)', 'INSERT INTO rr.u VALUES (1,1,1)', 'INSERT INTO rr.v VALUES (1,1)',
    'INSERT INTO rr.k (a, b) VALUES (1,1)', 'INSERT INTO rr.p VALUES (1,1), (2,2)', 'INSERT INTO rr.q VALUES (1,1,2)',
]


def conn(w, user):
    sock, port = servers[w]
    kw = dict(unix_socket=sock) if user == 'root' else dict(host='127.0.0.1', port=port, database=None)
    return pymysql.connect(user=user, password='', autocommit=False, **kw)


def ask(c, st):
    try:
        cur = c.cursor()
        cur.execute(st)
        cur.fetchall()
        return 'ok'
    except pymysql.err.Error as e:
        code, text = e.args[0], str(e.args[1])
        if code in (1216, 1217, 1451, 1452):
            return 'key %s' % ('named' if '(' in text else 'unnamed')
        return '%s %s' % (code, text if code in (1142, 1143, 1044, 1227) else '')


def col(t):
    return R.choice(READ[t])


def target(t):
    return R.choice(WRITTEN[t])


def tab(but=''):
    return R.choice([t for t in TABLES if t != but])


def expr(ts, d=0):
    k = R.random()
    t = R.choice(ts)
    if k < .45 or d > 2:
        return '%s.%s' % (t, col(t))
    if k < .55:
        return str(R.randint(0, 3))
    if k < .7:
        return '(%s + %s)' % (expr(ts, d + 1), expr(ts, d + 1))
    if k < .8:
        return 'COALESCE(%s, %s)' % (expr(ts, d + 1), expr(ts, d + 1))
    i = tab()
    a = 'i%d' % d
    READ[a] = READ[i]
    return R.choice(['(SELECT MAX(%s) FROM %s %s WHERE %s)' % (expr([a], 3), i, a, cond([a] + ts, 3)),
                     '(SELECT COUNT(*) FROM %s %s)' % (i, a),
                     'EXISTS (SELECT * FROM %s %s WHERE %s)' % (i, a, cond([a] + ts, 3)),
                     '(%s IN (SELECT %s FROM %s %s))' % (expr(ts, 3), expr([a], 3), i, a)])


def cond(ts, d=0):
    return '%s %s %s' % (expr(ts, d + 1), R.choice(['=', '<', '>', '<=>']), expr(ts, d + 1))


def query(d=0):
    t = tab()
    ts = [t]
    frm = t
    k = R.random()
    if k < .35:
        o = tab(t)
        ts.append(o)
        frm = '%s %s %s ON %s' % (t, R.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN']), o, cond(ts, 2))
    elif k < .5 and d == 0:
        return 'SELECT %s FROM (%s) AS d' % (R.choice(['*', 'COUNT(*)']), query(1))
    elif k < .6 and d == 0:
        column = "JSON_TABLE(CONCAT('[', %s, ']'), '$[*]' COLUMNS (n INT PATH '$'))" % expr(ts, 1)
        frm += ', ' + R.choice([column, 'LATERAL (SELECT %s AS n)' % expr(ts, 1)]) + ' AS j'
        return 'SELECT %s FROM %s' % (R.choice(['j.n', 'COUNT(*)', expr(ts, 2) + ', j.n']), frm)
    k = R.random()
    if d == 1:
        items = ', '.join('%s AS c%d' % (expr(ts, 2), n) for n in range(2))
    elif k < .15:
        items = '*'
    elif k < .25:
        items = R.choice(ts) + '.*'
    elif k < .4:
        items = 'COUNT(*)'
    else:
        items = ', '.join(expr(ts) for _ in range(R.randint(1, 2)))
    q = 'SELECT %s FROM %s' % (items, frm)
    if R.random() < .5:
        q += ' WHERE ' + cond(ts)
    if 'COUNT' not in items and d == 0:
        if R.random() < .2:
            q += ' ORDER BY ' + expr(ts, 2)
        if R.random() < .1:
            q += R.choice([' FOR UPDATE', ' FOR SHARE', ' LIMIT 1'])
    return q


def insert():
    t = tab()
    cols = R.sample(WRITTEN[t], R.randint(1, len(WRITTEN[t])))
    head = '%s INTO %s' % (R.choice(['INSERT', 'INSERT', 'INSERT IGNORE', 'REPLACE']), t)
    updates = head.startswith('INSERT') and R.random() < .4
    k = R.random()
    if k < .35:
        o = tab(t)
        c = target(t)
        st = '%s (%s) SELECT %s FROM %s WHERE %s' % (head, c, expr([o], 2), o, cond([o], 2))
        values = [expr([t], 2), 'VALUES(%s)' % c, '%s.%s' % (o, col(o)), '5']
    elif k < .45:
        values = [expr([t], 2), '5']
        st = '%s VALUES %s' % (head, R.choice(['()', '(%s)' % ', '.join('7' for _ in WRITTEN[t])]))
    elif k < .55:
        st = '%s SET %s' % (head, ', '.join('%s = %s' % (c, R.choice(['8', cols[0]])) for c in cols))
        values = [expr([t], 2), 'VALUES(%s)' % cols[0], '5']
    else:
        given = ['DEFAULT', '(SELECT MAX(a) FROM u x)', cols[0], 'DEFAULT(%s)' % target(t)]
        row = [str(R.randint(100, 999)) if R.random() < .7 else R.choice(given) for _ in cols]
        st = '%s (%s) VALUES (%s)' % (head, ', '.join(cols), ', '.join(row))
        values = [expr([t], 2), 'VALUES(%s)' % cols[0], '5']
        if updates and R.random() < .3:
            st += ' AS new'
            values = [expr([t], 2), 'new.%s' % cols[0], '%s.%s' % (t, col(t))]
    if updates:
        st += ' ON DUPLICATE KEY UPDATE %s = %s' % (target(t), R.choice(values))
    return st


def change():
    t = tab()
    c = target(t)
    o = tab(t)
    k = R.random()
    if k < .4:
        tail = R.choice(['', ' WHERE ' + cond([t], 1), ' ORDER BY ' + col(t)])
        return 'UPDATE %s SET %s = %s%s' % (t, c, R.choice([expr([t], 1), 'DEFAULT', '5']), tail)
    if k < .55:
        return 'UPDATE %s, %s SET %s.%s = %s WHERE %s' % (t, o, t, c, expr([t, o], 2), cond([t, o], 2))
    if k < .8:
        return 'DELETE FROM %s%s' % (t, R.choice(['', ' WHERE ' + cond([t], 1), ' ORDER BY %s LIMIT 1' % col(t)]))
    on = cond([t, o], 2)
    return R.choice(['DELETE %s FROM %s JOIN %s ON %s' % (t, t, o, on),
                     'DELETE FROM %s USING %s JOIN %s ON %s' % (t, t, o, on),
                     'DELETE %s, %s FROM %s JOIN %s ON %s' % (t, o, t, o, on),
                     'WITH w AS (SELECT %s AS c0 FROM %s) DELETE FROM %s WHERE %s IN (SELECT c0 FROM w)'
                     % (col(o), o, t, col(t))])


def definition():
    t = tab()
    c = target(t)
    o = tab(t)
    return R.choice([
        'TRUNCATE ' + t, 'CREATE TABLE z (a INT)', 'CREATE TABLE z SELECT %s FROM %s' % (expr([t], 2), t),
        'CREATE TABLE z LIKE ' + t, 'CREATE TABLE z (z INT) SELECT %s AS z FROM %s JOIN %s' % (expr([t, o], 2), t, o),
        'CREATE TABLE z (a INT, FOREIGN KEY (a) REFERENCES p (%s))' % R.choice('ak'),
        'CREATE TABLE rs.z (a INT)', 'CREATE TABLE rs.z LIKE ' + t, 'RENAME TABLE %s TO rs.z' % t,
        'ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES p (%s)' % (t, c, R.choice('ak')),
        'ALTER TABLE %s RENAME z' % t, 'ALTER TABLE %s RENAME rs.z' % t, 'ALTER TABLE %s ADD q INT' % t,
        'ALTER TABLE %s ADD q INT AS (%s + 1)' % (t, c), 'CREATE INDEX i ON %s (%s)' % (t, c), 'DROP TABLE ' + t,
        'DROP TABLE IF EXISTS %s, nix' % t, 'RENAME TABLE %s TO z' % t, 'DROP INDEX bx ON u', 'DROP DATABASE rs',
        'CREATE DATABASE rt', 'ALTER DATABASE rs CHARACTER SET latin1'])


def statement():
    k = R.random()
    t = tab()
    c = col(t)
    if k < .35:
        st = query()
    elif k < .4:
        st = 'SELECT %s FROM %s UNION SELECT a FROM u WHERE %s' % (c, t, cond(['u']))
    elif k < .45:
        st = 'WITH w AS (SELECT %s AS c0 FROM %s) SELECT c0 FROM w' % (expr([t], 2), t)
    elif k < .65:
        st = insert()
    elif k < .87:
        st = change()
    elif k < .93:
        return definition()
    else:
        return R.choice(['TABLE ' + t, 'SHOW COLUMNS FROM ' + t, 'SHOW INDEX FROM ' + t, 'SHOW CREATE TABLE ' + t,
                         'CHECKSUM TABLE ' + t, 'CHECK TABLE ' + t, 'ANALYZE TABLE ' + t, 'LOCK TABLES %s READ' % t,
                         'LOCK TABLES %s WRITE' % t, 'DO (SELECT MAX(%s) FROM %s)' % (c, t), 'USE rs',
                         'SET @x = (SELECT MAX(%s) FROM %s)' % (c, t), 'SHOW TABLES FROM rs',
                         'DESCRIBE %s %s' % (t, c)])
    return R.choice(['', '', '', '', 'EXPLAIN ']) + st


ROLES = ['rr1', 'rr2', 'rr3', 'rr4']


def some(least=1):
    return ', '.join(R.sample(ROLES, R.randint(least, 3)))


def edges():
    """Statements that root runs before the session, and while it is open."""
    who = R.choice(ROLES + ['rr', 'rr', 'rr'])
    return R.choice(['GRANT %s TO %s%s' % (some(), who, R.choice(['', ' WITH ADMIN OPTION']))] * 4 +
                    ['SET DEFAULT ROLE %s TO rr' % R.choice(['ALL', 'NONE', some()]),
                     'ALTER USER rr DEFAULT ROLE ' + R.choice(['ALL', 'NONE', some()])])


def changes():
    r = R.choice(ROLES)
    return R.choice([edges(), edges(), 'REVOKE %s FROM %s' % (some(), R.choice(ROLES + ['rr', 'rr'])),
                     'DROP ROLE ' + r, 'CREATE ROLE ' + r,
                     "SET GLOBAL mandatory_roles = '%s'" % R.choice(['', r, some()]),
                     'REVOKE SELECT ON rr.%s FROM %s' % (tab(), R.choice([r, 'rr', 'rr'])), grant(tab()), grant(tab()),
                     'GRANT SELECT (a), UPDATE ON rr.%s TO %s' % (tab(), r), 'GRANT SELECT ON rr.* TO ' + r,
                     'RENAME USER %s TO %s' % (r, R.choice(ROLES))])


def own():
    """Statements about roles that the account runs itself."""
    return R.choice(['SET ROLE ' + R.choice(['ALL', 'NONE', 'DEFAULT', some(), 'ALL EXCEPT ' + some()])] * 4 +
                    ['GRANT %s TO %s' % (some(), R.choice(['rr', 'rr1', 'rr2'])),
                     'REVOKE %s FROM %s' % (some(), R.choice(ROLES)),
                     'SET DEFAULT ROLE %s TO rr' % R.choice(['ALL', 'NONE', some()]),
                     'DROP ROLE rr1', 'CREATE ROLE rr5', 'GRANT SELECT ON rr.t TO rr2',
                     'GRANT SELECT (a) ON rr.t TO rr2',
                     'GRANT INSERT ON rr.* TO rr2', 'REVOKE SELECT ON rr.t FROM rr2'])


ORDER = ' ORDER BY 1, 2, 3, 4'
OF_SCHEMA = " FROM information_schema.%s WHERE %s_SCHEMA IN ('rr', 'rs')"
LOOKS = [
    'SELECT CURRENT_ROLE()', 'SHOW GRANTS', 'SELECT * FROM information_schema.applicable_roles ORDER BY 1,2,3,4,5,6',
    'SELECT * FROM information_schema.enabled_roles ORDER BY 1',
    'SELECT * FROM information_schema.administrable_role_authorizations ORDER BY 1,2,3,4,5,6',
]
NAMES = [
    'SELECT TABLE_NAME, COLUMN_NAME, PRIVILEGES, COLUMN_KEY' + OF_SCHEMA % ('COLUMNS', 'TABLE') + ORDER,
    'SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME'
    + OF_SCHEMA % ('KEY_COLUMN_USAGE', 'TABLE') + ORDER,
    'SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, SEQ_IN_INDEX' + OF_SCHEMA % ('STATISTICS', 'TABLE') + ORDER,
    'SELECT TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE, ENFORCED'
    + OF_SCHEMA % ('TABLE_CONSTRAINTS', 'TABLE') + ORDER,
    'SELECT TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME, UPDATE_RULE'
    + OF_SCHEMA % ('REFERENTIAL_CONSTRAINTS', 'CONSTRAINT') + ORDER,
    'SELECT CONSTRAINT_NAME, CHECK_CLAUSE' + OF_SCHEMA % ('CHECK_CONSTRAINTS', 'CONSTRAINT') + ' ORDER BY 1',
    'SELECT TABLE_NAME, TABLE_TYPE' + OF_SCHEMA % ('TABLES', 'TABLE') + ' ORDER BY 1',
]
ROOT_LOOKS = ["SELECT * FROM mysql.role_edges WHERE TO_USER LIKE 'rr%'",
              "SELECT * FROM mysql.default_roles WHERE USER LIKE 'rr%'", 'SHOW GRANTS FOR rr', 'SHOW GRANTS FOR rr1']


def look(c, st):
    try:
        c.commit()
        cur = c.cursor()
        cur.execute(st)
        rows = cur.fetchall()
    except pymysql.err.Error as e:
        return e.args[0]
    if not st.startswith('SHOW GRANTS'):
        return rows
    # MySQL names a mandatory role that is granted as well twice, and forgets ADMIN OPTION for a while when a role is
    # granted again without it.
    of_roles = {name for line, in rows if line.startswith('GRANT `') for name in line[6:line.index(' TO ')].split(',')}
    return [line for line, in rows if not line.startswith('GRANT `')] + sorted(of_roles)


def grant(t, who=None):
    parts = []
    for p in R.sample(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES', 'ALTER', 'DROP', 'CREATE', 'INDEX'],
                      R.randint(1, 3)):
        if p in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') and R.random() < .7:
            p += ' (%s)' % ', '.join(R.sample(READ[t], R.randint(1, len(READ[t]))))
        parts.append(p)
    option = ' WITH GRANT OPTION' if R.random() < .1 else ''
    return 'GRANT %s ON rr.%s TO %s@`%%`%s' % (', '.join(parts), t, who or R.choice(['rr', 'rr'] + ROLES), option)


def grants():
    out = [grant(t, None if R.random() < .7 else 'rr') for t in TABLES for _ in range(R.randint(0, 3))]
    for _ in range(R.choice([0, 0, 1, 2])):
        what = R.choice(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'LOCK TABLES', 'CREATE', 'REFERENCES', 'DROP, ALTER'])
        out.append('GRANT %s ON %s.* TO rr@`%%`' % (what, R.choice(['rr', 'rs', '`r_`', '`r%`', '`rr%`'])))
    if R.random() < .2:
        out.append('GRANT %s ON rr.* TO %s@`%%`' % (R.choice(['SELECT', 'UPDATE', 'DELETE']), R.choice(ROLES)))
    if R.random() < .1:
        what = R.choice(['SELECT', 'UPDATE', 'CREATE ROLE', 'ROLE_ADMIN'])
        out.append('GRANT %s ON *.* TO %s@`%%`' % (what, R.choice(['rr'] + ROLES)))
    if R.random() < .5:
        what = R.choice(['SELECT', 'SELECT (a)', 'INSERT (a)', 'UPDATE', 'ALL'])
        out.append('REVOKE %s ON rr.%s FROM rr@`%%`' % (what, tab()))
    return out


PRIVILEGED = ('1142', '1143', '1044', '1227', 'key')
root = {w: conn(w, 'root') for w in servers}
n = wrong = denied = 0


def differ(what, a, b):
    global wrong
    if a != b:
        wrong += 1
        print('%s\n   M %s\n   T %s' % (what, a, b))
    return a != b


def both(c, st, what):
    """A statement whose success counts."""
    a = {w: ask(c[w], st) for w in servers}
    differ('%s: %s' % (what, st), a['m'].split()[0], a['t'].split()[0])


def put(r, c, st):
    """A statement on tables, undone again."""
    global n, denied
    a = {}
    for w in servers:
        a[w] = ask(c[w], st)
        for after in ('ROLLBACK', 'UNLOCK TABLES'):
            ask(c[w], after)
    n += 1
    codes = {w: a[w] if a[w].startswith('key') else a[w].split()[0] for w in servers}
    of_rights = {w: a[w].split()[0] in PRIVILEGED for w in servers}
    denied += of_rights['m']
    if of_rights['m'] != of_rights['t'] or of_rights['m'] and codes['m'] != codes['t']:
        held = [line[6:] for line in look(c['m'], 'SHOW GRANTS') + [str(look(c['m'], 'SELECT CURRENT_ROLE()'))]]
        differ('round %d: %s\n   grants %s' % (r, st, '; '.join(held)), a['m'], a['t'])
    return 'ok' in a.values()


def root_rows(st):
    cur = root['m'].cursor()
    cur.execute(st)
    return cur.fetchall()


def one_round(r):
    global n
    setup = ['DROP DATABASE IF EXISTS ' + name for name in ('rr', 'rs', 'rt')]
    setup += ['CREATE DATABASE rr', 'CREATE DATABASE rs', "SET GLOBAL mandatory_roles = ''",
              'DROP USER IF EXISTS rr@`%`', 'DROP ROLE IF EXISTS rr1, rr2, rr3, rr4, rr5', 'CREATE USER rr@`%`',
              'CREATE ROLE rr1, rr2, rr3, rr4']
    setup += MAKE
    given = grants() + [edges() for _ in range(R.randint(0, 6))]
    if R.random() < .2:
        given.append("SET GLOBAL mandatory_roles = '%s'" % R.choice(ROLES))
    given.append('SET GLOBAL activate_all_roles_on_login = %d' % (R.random() < .5))
    for st in setup + given:
        both(root, st, 'round %d, root' % r)
    shown = {w: look(root[w], 'SHOW GRANTS FOR rr@`%`') for w in servers}
    differ('round %d: SHOW GRANTS after %s' % (r, given), shown['m'], shown['t'])
    c = {w: conn(w, 'rr') for w in servers}
    use = {w: ask(c[w], 'USE rr') for w in servers}
    differ('round %d: USE' % r, use['m'], use['t'])
    if use['m'] != 'ok':
        return
    prepared = []
    for _ in range(40):
        if R.random() < .3:
            kind = R.random()
            if kind < .5:
                both(root, changes(), 'round %d, root' % r)
            else:
                both(c, own(), 'round %d, rr' % r)
            for st in LOOKS + ROOT_LOOKS + R.sample(NAMES, 2):
                seen = {s: look(root[s] if st in ROOT_LOOKS else c[s], st) for s in servers}
                differ('round %d: %s' % (r, st), seen['m'], seen['t'])
            n += 1
            # MySQL keeps what is held on the current database until it is chosen again.
            for s in servers:
                ask(c[s], 'USE rr')
            for name in prepared:
                put(r, c, 'EXECUTE ' + name)
        st = statement()
        if R.random() < .1 and len(prepared) < 4 and "'" not in st:
            name = 's%d' % len(prepared)
            text = "PREPARE %s FROM '%s'" % (name, st)
            if {ask(c[w], text) for w in servers} == {'ok'}:
                prepared.append(name)
        worked = put(r, c, st)
        if worked and st.split()[0] in ('TRUNCATE', 'CREATE', 'ALTER', 'DROP', 'RENAME'):
            break
        if st == 'USE rs':
            for s in servers:
                ask(c[s], 'USE rr')
    for w in servers:
        c[w].close()
        ask(root[w], "SET GLOBAL mandatory_roles = ''")


for r in range(rounds):
    one_round(r)
print('%d statements, %d denied, %d differ' % (n, denied, wrong))
