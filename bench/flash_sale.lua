-- The flash sale for sysbench: every client takes one piece of the same stock, one autocommitted UPDATE each.
-- Against a table `test_update` that `prepare` makes; text protocol with --db-ps-mode=disable.
function prepare()
   local connection = sysbench.sql.driver():connect()
   connection:query("DROP TABLE IF EXISTS test_update")
   connection:query("CREATE TABLE test_update (id int(11) NOT NULL AUTO_INCREMENT, stock int(11) DEFAULT NULL, PRIMARY KEY (id)) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8")
   connection:query("INSERT INTO test_update (id, stock) VALUES (1, 2000000000)")
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   connection:query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
   sale = connection:prepare("UPDATE test_update SET stock = stock - 1 WHERE id = 1 AND stock > 3")
end

function event()
   sale:execute()
end

function thread_done()
   connection:disconnect()
end
