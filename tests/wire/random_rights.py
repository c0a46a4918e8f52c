"""Random privileges and random statements, put to MySQL and to Turnstile: which are allowed, and with which error the others are not.

  python3 tests/wire/random_rights.py ROUNDS SEED MYSQL_SOCKET MYSQL_PORT TURNSTILE_SOCKET TURNSTILE_PORT

Both servers have a root without password at the socket. The database, the account `rr` and the roles `rr1` to `rr4` are made anew in each round:
privileges go to the account and to roles, roles to it and to each other, some with ADMIN OPTION, some mandatory, and while the account's session is open
roles are activated, revoked, dropped and made again. What differs is printed with its round. Differences that stay: MySQL does not ask for columns of a derived table that nobody reads, and forgets what is
granted on a table when the database's privileges are enough for the first of the statement's kinds of use (a DELETE or UPDATE with WHERE).
JOIN USING and NATURAL JOIN are left out: MySQL does not ask for their columns. With a role active MySQL says 1142 where it says 1143 without;
after SET ROLE DEFAULT of an account without default roles it keeps what the roles before held on everything.
"""
import random, sys, pymysql
rounds, seed = int(sys.argv[1]), int(sys.argv[2])
servers = {'m': (sys.argv[3], int(sys.argv[4])), 't': (sys.argv[5], int(sys.argv[6]))}
R = random.Random(seed)
COLS = {'t': 'abc', 'u': 'abx', 'v': 'ay'}
def conn(w, user):
    sock, port = servers[w]
    kw = dict(unix_socket=sock) if user == 'root' else dict(host='127.0.0.1', port=port, database=None)
    return pymysql.connect(user=user, password='', autocommit=False, **kw)
def ask(c, st):
    try:
        cur = c.cursor(); cur.execute(st); cur.fetchall(); return 'ok'
    except pymysql.err.Error as e:
        return '%s %s' % (e.args[0], e.args[1] if e.args[0] in (1142, 1143, 1044) else '')
def col(t): return R.choice(COLS[t])
def tab(): return R.choice('tuv')
def expr(ts, d=0):
    k = R.random()
    t = R.choice(ts)
    if k < .45 or d > 2: return '%s.%s' % (t, col(t))
    if k < .55: return str(R.randint(0, 3))
    if k < .7: return '(%s + %s)' % (expr(ts, d+1), expr(ts, d+1))
    if k < .8: return 'COALESCE(%s, %s)' % (expr(ts, d+1), expr(ts, d+1))
    i = tab(); a = 'i%d' % d
    COLS[a] = COLS[i]
    return R.choice(['(SELECT MAX(%s) FROM %s %s WHERE %s)' % (expr([a], 3), i, a, cond([a]+ts, 3)),
                     '(SELECT COUNT(*) FROM %s %s)' % (i, a),
                     'EXISTS (SELECT * FROM %s %s WHERE %s)' % (i, a, cond([a]+ts, 3)),
                     '(%s IN (SELECT %s FROM %s %s))' % (expr(ts, 3), expr([a], 3), i, a)])
def cond(ts, d=0):
    return '%s %s %s' % (expr(ts, d+1), R.choice(['=', '<', '>', '<=>']), expr(ts, d+1))
def query(d=0):
    t = tab(); ts = [t]; frm = t
    if R.random() < .35:
        o = R.choice([x for x in 'tuv' if x != t]); ts.append(o)
        frm = '%s %s %s ON %s' % (t, R.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN']), o, cond(ts, 2))
    elif R.random() < .15 and d == 0:
        frm = '(%s) AS d' % query(1); ts = None
    if ts is None:
        return 'SELECT %s FROM %s' % (R.choice(['*', 'COUNT(*)']), frm)
    k = R.random()
    if d == 1: items = ', '.join('%s AS c%d' % (expr(ts, 2), n) for n in range(2))
    elif k < .15: items = '*'
    elif k < .25: items = R.choice(ts) + '.*'
    elif k < .4: items = 'COUNT(*)'
    else: items = ', '.join(expr(ts) for _ in range(R.randint(1, 2)))
    q = 'SELECT %s FROM %s' % (items, frm)
    if R.random() < .5: q += ' WHERE ' + cond(ts)
    if 'COUNT' not in items and d == 0:
        if R.random() < .2: q += ' ORDER BY ' + expr(ts, 2)
        if R.random() < .1: q += R.choice([' FOR UPDATE', ' FOR SHARE', ' LIMIT 1'])
    return q
def statement():
    k = R.random(); t = tab(); c = col(t)
    if k < .4: return query()
    if k < .45: return '%s UNION %s' % ('SELECT %s FROM %s' % (col(t), t), 'SELECT a FROM u WHERE ' + cond(['u']))
    if k < .5: return 'WITH w AS (SELECT %s AS c0 FROM %s) SELECT c0 FROM w' % (expr([t], 2), t)
    if k < .6:
        cols = R.sample(COLS[t], R.randint(1, len(COLS[t])))
        st = '%s INTO %s (%s) VALUES (%s)' % (R.choice(['INSERT', 'INSERT', 'REPLACE']), t, ', '.join(cols), ', '.join(str(R.randint(100, 999)) if R.random() < .7 else R.choice(['DEFAULT', '(SELECT MAX(a) FROM u x)', '%s' % cols[0]]) for _ in cols))
        if st.startswith('INSERT') and R.random() < .4: st += ' ON DUPLICATE KEY UPDATE %s = %s' % (c, R.choice([expr([t], 2), 'VALUES(%s)' % cols[0], '5']))
        return st
    if k < .63: return 'INSERT INTO %s VALUES (%s)' % (t, ', '.join('7' for _ in COLS[t]))
    if k < .7:
        o = tab()
        return 'INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s' % (t, c, expr([o], 2), o, cond([o], 2))
    if k < .8: return 'UPDATE %s SET %s = %s%s' % (t, c, expr([t], 1), R.choice(['', ' WHERE ' + cond([t], 1), ' ORDER BY ' + col(t)]))
    if k < .85:
        o = R.choice([x for x in 'tuv' if x != t])
        return 'UPDATE %s, %s SET %s.%s = %s WHERE %s' % (t, o, t, c, expr([t, o], 2), cond([t, o], 2))
    if k < .92: return 'DELETE FROM %s%s' % (t, R.choice(['', ' WHERE ' + cond([t], 1)]))
    if k < .96:
        o = R.choice([x for x in 'tuv' if x != t])
        return 'DELETE %s FROM %s JOIN %s ON %s' % (t, t, o, cond([t, o], 2))
    return R.choice(['TABLE ' + t, 'SHOW COLUMNS FROM ' + t, 'SHOW CREATE TABLE ' + t, 'CHECKSUM TABLE ' + t, 'LOCK TABLES %s READ' % t, 'TRUNCATE ' + t,
                     'CREATE TABLE z (a INT)', 'CREATE TABLE z SELECT %s FROM %s' % (c, t), 'ALTER TABLE %s ADD q INT' % t, 'DROP TABLE ' + t, 'RENAME TABLE %s TO z' % t, 'DO (SELECT MAX(%s) FROM %s)' % (c, t)])
ROLES = ['rr1', 'rr2', 'rr3', 'rr4']
def some(least=1): return ', '.join(R.sample(ROLES, R.randint(least, 3)))
def edges():
    """Statements that root runs before the session, and while it is open."""
    who = R.choice(ROLES + ['rr', 'rr', 'rr'])
    return R.choice(['GRANT %s TO %s%s' % (some(), who, R.choice(['', ' WITH ADMIN OPTION']))] * 4 +
                    ['SET DEFAULT ROLE %s TO rr' % R.choice(['ALL', 'NONE', some()]), 'ALTER USER rr DEFAULT ROLE ' + R.choice(['ALL', 'NONE', some()])])
def changes():
    r = R.choice(ROLES)
    return R.choice([edges(), edges(), 'REVOKE %s FROM %s' % (some(), R.choice(ROLES + ['rr', 'rr'])), 'DROP ROLE ' + r, 'CREATE ROLE ' + r,
                     "SET GLOBAL mandatory_roles = '%s'" % R.choice(['', r, some()]), 'REVOKE SELECT ON rr.%s FROM %s' % (tab(), r),
                     'GRANT SELECT (a), UPDATE ON rr.%s TO %s' % (tab(), r), 'GRANT SELECT ON rr.* TO ' + r, 'RENAME USER %s TO %s' % (r, R.choice(ROLES))])
def own():
    """Statements about roles that the account runs itself."""
    return R.choice(['SET ROLE ' + R.choice(['ALL', 'NONE', 'DEFAULT', some(), 'ALL EXCEPT ' + some()])] * 4 +
                    ['GRANT %s TO %s' % (some(), R.choice(['rr', 'rr1', 'rr2'])), 'REVOKE %s FROM %s' % (some(), R.choice(ROLES)),
                     'SET DEFAULT ROLE %s TO rr' % R.choice(['ALL', 'NONE', some()]), 'DROP ROLE rr1', 'CREATE ROLE rr5', 'GRANT SELECT ON rr.t TO rr2'])
LOOKS = ['SELECT CURRENT_ROLE()', 'SHOW GRANTS', 'SELECT * FROM information_schema.applicable_roles ORDER BY 1,2,3,4,5,6',
         'SELECT * FROM information_schema.enabled_roles ORDER BY 1', 'SELECT * FROM information_schema.administrable_role_authorizations ORDER BY 1,2,3,4,5,6']
ROOT_LOOKS = ['SELECT * FROM mysql.role_edges', 'SELECT * FROM mysql.default_roles', 'SHOW GRANTS FOR rr', 'SHOW GRANTS FOR rr1']
def look(c, st):
    try:
        c.commit(); cur = c.cursor(); cur.execute(st); rows = cur.fetchall()
    except pymysql.err.Error as e:
        return e.args[0]
    if not st.startswith('SHOW GRANTS'): return rows
    # MySQL names a mandatory role that is granted as well twice, and forgets ADMIN OPTION for a while when a role is granted again without it.
    of_roles = {name for line, in rows if line.startswith('GRANT `') for name in line[6:line.index(' TO ')].split(',')}
    return [line for line, in rows if not line.startswith('GRANT `')] + sorted(of_roles)
def grants():
    out = []
    for t in 'tuv':
        for _ in range(R.randint(0, 3)):
            parts = []
            for p in R.sample(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES', 'ALTER', 'DROP', 'CREATE', 'INDEX'], R.randint(1, 3)):
                if p in ('SELECT', 'INSERT', 'UPDATE') and R.random() < .7:
                    p += ' (%s)' % ', '.join(R.sample(COLS[t], R.randint(1, len(COLS[t]))))
                parts.append(p)
            out.append('GRANT %s ON rr.%s TO %s@`%%`' % (', '.join(parts), t, R.choice(['rr'] + ROLES)))
    if R.random() < .25: out.append('GRANT %s ON rr.* TO %s@`%%`' % (R.choice(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'LOCK TABLES', 'CREATE']), R.choice(['rr'] + ROLES)))
    if R.random() < .1: out.append('GRANT %s ON *.* TO %s@`%%`' % (R.choice(['SELECT', 'UPDATE', 'CREATE ROLE', 'ROLE_ADMIN']), R.choice(['rr'] + ROLES)))
    if R.random() < .5: out.append('REVOKE %s ON rr.%s FROM rr@`%%`' % (R.choice(['SELECT', 'SELECT (a)', 'INSERT (a, b)', 'UPDATE', 'ALL']), tab()))
    return out
root = {w: conn(w, 'root') for w in servers}
n = wrong = denied = 0
for r in range(rounds):
    setup = ['DROP DATABASE IF EXISTS rr', 'CREATE DATABASE rr', "SET GLOBAL mandatory_roles = ''", 'DROP USER IF EXISTS rr@`%`', 'DROP ROLE IF EXISTS rr1, rr2, rr3, rr4, rr5', 'CREATE USER rr@`%`', 'CREATE ROLE rr1, rr2, rr3, rr4', 'CREATE TABLE rr.t (a INT PRIMARY KEY, b INT, c INT)', 'CREATE TABLE rr.u (a INT, b INT, x INT)', 'CREATE TABLE rr.v (a INT, y INT)', 'INSERT INTO rr.t VALUES (1,1,1)', 'INSERT INTO rr.u VALUES (1,1,1)', 'INSERT INTO rr.v VALUES (1,1)']
    g = grants() + [edges() for _ in range(R.randint(0, 6))] + (["SET GLOBAL mandatory_roles = '%s'" % R.choice(ROLES)] if R.random() < .2 else [])
    g.append('SET GLOBAL activate_all_roles_on_login = %d' % (R.random() < .5))
    for st in setup + g:
        a = {w: ask(root[w], st) for w in servers}
        if a['m'].split()[0] != a['t'].split()[0]: print('GRANT differs', r, st, a); wrong += 1
    shown = {}
    for w in servers:
        cur = root[w].cursor(); cur.execute('SHOW GRANTS FOR rr@`%`'); shown[w] = cur.fetchall()
    if shown['m'] != shown['t']: print('SHOW GRANTS', r, g, shown); wrong += 1
    try: c = {w: conn(w, 'rr') for w in servers}
    except Exception as e: print('connect', e); continue
    use = {w: ask(c[w], 'USE rr') for w in servers}
    if use['m'] != use['t']: print('USE', g, use); wrong += 1
    if use['m'] != 'ok': continue
    for _ in range(40):
        if R.random() < .3:
            w, st = ('root', changes()) if R.random() < .5 else ('rr', own())
            a = {s: ask(root[s] if w == 'root' else c[s], st) for s in servers}
            if a['m'].split()[0] != a['t'].split()[0]: print('%s differs' % w, r, st, a); wrong += 1
            for st in LOOKS + ROOT_LOOKS:
                seen = {s: look(root[s] if st in ROOT_LOOKS else c[s], st) for s in servers}
                if seen['m'] != seen['t']: print('round %d: %s\n   M %s\n   T %s' % (r, st, seen['m'], seen['t'])); wrong += 1
            n += 1
            # MySQL keeps what is held on the current database until it is chosen again.
            for s in servers: ask(c[s], 'USE rr')
        st = statement(); a = {}
        for w in servers:
            a[w] = ask(c[w], st); ask(c[w], 'ROLLBACK'); ask(c[w], 'UNLOCK TABLES')
        n += 1
        codes = {w: a[w].split()[0] for w in servers}
        privileged = ('1142', '1143', '1044')
        denied += codes['m'] in privileged
        if (codes['m'] in privileged) != (codes['t'] in privileged) or codes['m'] in privileged and codes['m'] != codes['t']:
            wrong += 1
            print('round %d: %s\n   grants %s\n   M %s\n   T %s' % (r, st, '; '.join(x[0][6:] for x in shown['m'][1:]), a['m'], a['t']))
        for ddl in ('TRUNCATE', 'CREATE', 'ALTER', 'DROP', 'RENAME'):
            if st.startswith(ddl) and 'ok' in a.values(): break
        else: continue
        break
    for w in servers: c[w].close(); ask(root[w], "SET GLOBAL mandatory_roles = ''")
print('%d statements, %d denied, %d differ' % (n, denied, wrong))
