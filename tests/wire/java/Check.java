// Connector/J: client-side and server-side prepared statements, metadata, transactions, batches, errors.
import java.sql.*;

public class Check {
    static void expect(Object want, Object got) {
        if (!want.equals(got)) throw new AssertionError("want " + want + ", got " + got);
    }

    // Several cursors at once, one closed before its end, and results without rows; without useCursorFetch the same with whole results.
    static void cursors(Connection connection, Statement statement) throws SQLException {
        statement.execute("DROP TABLE IF EXISTS many");
        statement.execute("CREATE TABLE many (id INT PRIMARY KEY, name VARCHAR(10))");
        for (int id = 0; id < 7; id++) statement.execute("INSERT INTO many VALUES (" + id + ", 'n" + id + "')");
        try (PreparedStatement up = connection.prepareStatement("SELECT id, name FROM many WHERE id >= ? ORDER BY id"); PreparedStatement down = connection.prepareStatement("SELECT id FROM many ORDER BY id DESC")) {
            up.setInt(1, 0);
            try (ResultSet rising = up.executeQuery(); ResultSet falling = down.executeQuery()) {
                for (int id = 0; id < 7; id++) {
                    rising.next();
                    falling.next();
                    expect("n" + id, rising.getString(2));
                    expect(6 - id, falling.getInt(1));
                }
                expect(false, rising.next());
                expect(false, falling.next());
            }
            up.setInt(1, 2);
            try (ResultSet rows = up.executeQuery()) {
                rows.next();
                expect(2, rows.getInt(1));
            }
            up.setInt(1, 100);
            try (ResultSet rows = up.executeQuery()) {
                expect(false, rows.next());
            }
        }
        try (ResultSet rows = statement.executeQuery("SELECT 1 FROM many WHERE id > 100")) {
            expect(false, rows.next());
        }
    }

    public static void main(String[] args) throws Exception {
        String place = "jdbc:mysql://" + System.getenv("WIRE_HOST") + ":" + System.getenv("WIRE_PORT") + "/";
        String[] variants = {"sslMode=DISABLED", "sslMode=DISABLED&useServerPrepStmts=true&cachePrepStmts=true", "sslMode=REQUIRED&rewriteBatchedStatements=true", "sslMode=DISABLED&useCursorFetch=true&defaultFetchSize=2"};
        for (String options : variants) {
            try (Connection connection = DriverManager.getConnection(place + "wire_java?createDatabaseIfNotExist=true&" + options, "root", ""); Statement statement = connection.createStatement()) {
                expect("wire_java", connection.getCatalog());
                statement.execute("DROP TABLE IF EXISTS kinds");
                statement.execute("CREATE TABLE kinds (id INT AUTO_INCREMENT PRIMARY KEY, big BIGINT, price DECIMAL(10,2), name VARCHAR(40), at TIMESTAMP NULL)");
                try (PreparedStatement insert = connection.prepareStatement("INSERT INTO kinds (big, price, name, at) VALUES (?,?,?,?)", Statement.RETURN_GENERATED_KEYS)) {
                    insert.setLong(1, Long.MIN_VALUE);
                    insert.setBigDecimal(2, new java.math.BigDecimal("99.95"));
                    insert.setString(3, "snow \u2603");
                    insert.setTimestamp(4, Timestamp.valueOf("2024-02-29 10:11:12"));
                    expect(1, insert.executeUpdate());
                    try (ResultSet keys = insert.getGeneratedKeys()) {
                        keys.next();
                        expect(1, keys.getInt(1));
                    }
                }
                try (PreparedStatement select = connection.prepareStatement("SELECT * FROM kinds WHERE id = ?")) {
                    for (int turn = 0; turn < 3; turn++) {
                        select.setInt(1, 1);
                        try (ResultSet rows = select.executeQuery()) {
                            rows.next();
                            expect(Long.MIN_VALUE, rows.getLong("big"));
                            expect("99.95", rows.getBigDecimal("price").toString());
                            expect("snow \u2603", rows.getString("name"));
                            expect(Timestamp.valueOf("2024-02-29 10:11:12"), rows.getTimestamp("at"));
                            expect("kinds", rows.getMetaData().getTableName(1));
                        }
                    }
                }
                cursors(connection, statement);
                connection.setAutoCommit(false);
                try (PreparedStatement batch = connection.prepareStatement("INSERT INTO kinds (big) VALUES (?)")) {
                    for (int value = 0; value < 100; value++) {
                        batch.setInt(1, value);
                        batch.addBatch();
                    }
                    expect(100, batch.executeBatch().length);
                }
                connection.rollback();
                connection.setAutoCommit(true);
                try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM kinds")) {
                    rows.next();
                    expect(1, rows.getInt(1));
                }
                try {
                    statement.execute("INSERT INTO kinds (id) VALUES (1)");
                    throw new AssertionError("a duplicate was accepted");
                } catch (SQLIntegrityConstraintViolationException error) {
                    expect(1062, error.getErrorCode());
                    expect("23000", error.getSQLState());
                }
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                try (ResultSet columns = connection.getMetaData().getColumns("wire_java", null, "kinds", "%")) {
                    int count = 0;
                    while (columns.next()) count++;
                    expect(5, count);
                }
                try (ResultSet tables = connection.getMetaData().getTables("wire_java", null, "%", new String[] {"TABLE"})) {
                    tables.next();
                    expect("kinds", tables.getString("TABLE_NAME"));
                }
                expect(true, connection.isValid(5));
                statement.execute("DROP DATABASE wire_java");
            }
        }
    }
}
