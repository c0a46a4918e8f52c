// mysql2 for Node: text and prepared (binary) protocol, types, transactions, errors, pool, TLS, change user.
const assert = require('assert');
const mysql = require('mysql2/promise');

const place = { host: process.env.WIRE_HOST, port: +process.env.WIRE_PORT, user: 'root', supportBigNumbers: true, bigNumberStrings: true };

async function code(call) {
  try { await call(); } catch (error) { return error.errno; }
  throw new Error('an error was expected');
}

async function main() {
  const connection = await mysql.createConnection({ ...place, multipleStatements: true });
  await connection.query('DROP DATABASE IF EXISTS wire_node; CREATE DATABASE wire_node; USE wire_node');
  await connection.query('CREATE TABLE kinds (id INT PRIMARY KEY AUTO_INCREMENT, big BIGINT, ratio DOUBLE, single FLOAT, name VARCHAR(40), raw BLOB, at DATETIME, price DECIMAL(10,2))');
  const at = new Date(2024, 1, 29, 12, 30, 15);
  const [inserted] = await connection.execute('INSERT INTO kinds (big, ratio, single, name, raw, at, price) VALUES (?,?,?,?,?,?,?)',
    ['-9223372036854775808', 1.25, 0.5, 'snow ☃', Buffer.from([0, 1, 255]), at, '12.30']);
  assert.strictEqual(inserted.insertId, 1);
  for (const verb of ['query', 'execute']) {
    const [[row]] = await connection[verb]('SELECT * FROM kinds WHERE id = ?', [1]);
    assert.deepStrictEqual({ ...row }, { id: 1, big: '-9223372036854775808', ratio: 1.25, single: 0.5, name: 'snow ☃', raw: Buffer.from([0, 1, 255]), at, price: '12.30' }, verb);
  }
  await connection.execute('INSERT INTO kinds (name) VALUES (?)', [null]);
  const [[empty]] = await connection.execute('SELECT name, big FROM kinds WHERE id = 2');
  assert.deepStrictEqual({ ...empty }, { name: null, big: null });
  const [results] = await connection.query('SELECT 1 AS a; SELECT 2 AS b');
  assert.deepStrictEqual(results.map((rows) => Number(Object.values(rows[0])[0])), [1, 2]);
  await connection.beginTransaction();
  await connection.execute('DELETE FROM kinds');
  await connection.rollback();
  const [[count]] = await connection.query('SELECT COUNT(*) AS n FROM kinds');
  assert.strictEqual(Number(count.n), 2);
  assert.strictEqual(await code(() => connection.execute('SELECT * FROM nowhere')), 1146);
  assert.strictEqual(await code(() => connection.query('INSERT INTO kinds (id) VALUES (1)')), 1062);
  await connection.ping();
  await connection.changeUser({ user: 'root', database: 'wire_node' });
  const [[again]] = await connection.query('SELECT DATABASE() AS d');
  assert.strictEqual(again.d, 'wire_node');

  const pool = mysql.createPool({ ...place, database: 'wire_node', connectionLimit: 20 });
  await pool.query('CREATE TABLE stock (id INT PRIMARY KEY, left_over INT)');
  await pool.query('INSERT INTO stock VALUES (1, 1000)');
  const sales = await Promise.all(Array.from({ length: 400 }, () => pool.execute('UPDATE stock SET left_over = left_over - 1 WHERE id = ? AND left_over > ?', [1, 700])));
  assert.strictEqual(sales.reduce((sum, [one]) => sum + one.affectedRows, 0), 300);
  await pool.end();
  const secure = await mysql.createConnection({ ...place, ssl: { rejectUnauthorized: false } });
  await secure.query('SELECT 1');
  await secure.end();
  await connection.query('DROP DATABASE wire_node');
  await connection.end();
}

main().catch((error) => { console.error(error); process.exit(1); });
