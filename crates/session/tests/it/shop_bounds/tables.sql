# The tables of a shop, a queue, a CMS and what an ORM keeps. A statement to a line. `n` counts from 0 to 199.
CREATE TABLE n (i INT PRIMARY KEY)
INSERT INTO n WITH RECURSIVE c AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 199) SELECT i FROM c
CREATE TABLE m (i INT PRIMARY KEY)
INSERT INTO m SELECT a.i * 50 + b.i FROM n AS a JOIN n AS b ON b.i < 50

# 1,000 customers in 50 countries; one of 20 has gone (17 lie between his country's others).
CREATE TABLE customers (id INT PRIMARY KEY, email VARCHAR(60) NOT NULL, country INT NOT NULL, created DATETIME NOT NULL, deleted_at DATETIME, tier INT NOT NULL, UNIQUE KEY by_email (email), KEY by_country (country, created))
INSERT INTO customers SELECT i, CONCAT('user', i, '@example.com'), i % 50, '2026-01-01' + INTERVAL i HOUR, IF(i % 20 = 7, '2026-03-01', NULL), i % 3 FROM m WHERE i < 1000

# 2,000 products, 20 in each of 100 categories; ten are sold out.
CREATE TABLE products (id INT PRIMARY KEY, sku VARCHAR(20) NOT NULL, category INT NOT NULL, price DECIMAL(10, 2) NOT NULL, stock INT NOT NULL, active TINYINT NOT NULL, name VARCHAR(60), UNIQUE KEY by_sku (sku), KEY by_category (category, price), KEY by_active (active))
INSERT INTO products SELECT i, CONCAT('SKU-', LPAD(i, 5, '0')), i % 100, i % 97 + 0.99, IF(i % 200 = 3, 0, i % 40 + 1), i % 10 > 0, CONCAT('product ', i) FROM m WHERE i < 2000

# 6,000 orders, six of each customer. 5,400 are done (3), 500 paid (1), 90 new (0), ten disputed (9); all but the done are the youngest.
CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL, status TINYINT NOT NULL, created DATETIME NOT NULL, total DECIMAL(10, 2) NOT NULL, note VARCHAR(40), KEY by_customer (customer_id, created), KEY by_status (status, created), KEY by_created (created))
INSERT INTO orders SELECT i, i * 7 % 1000, IF(i < 5400, 3, IF(i < 5900, 1, IF(i < 5990, 0, 9))), '2026-01-01' + INTERVAL i MINUTE, i % 300 + 1, CONCAT('note ', i) FROM m WHERE i < 6000

# Two lines of each order; each product is on six.
CREATE TABLE line_items (order_id INT, line INT, product_id INT NOT NULL, quantity INT NOT NULL, PRIMARY KEY (order_id, line), KEY by_product (product_id))
INSERT INTO line_items SELECT i, 1, i * 3 % 2000, i % 5 + 1 FROM m WHERE i < 6000 UNION ALL SELECT i, 2, (i * 3 + 1000) % 2000, 1 FROM m WHERE i < 6000

# Stock by warehouse (10) and item (200); carts of 500 customers, two products in each.
CREATE TABLE stock (w INT, i INT, quantity INT NOT NULL, reserved INT NOT NULL DEFAULT 0, PRIMARY KEY (w, i))
INSERT INTO stock (w, i, quantity) SELECT a.i, b.i, 100 FROM n AS a JOIN n AS b ON a.i < 10
CREATE TABLE carts (id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT NOT NULL, product_id INT NOT NULL, quantity INT NOT NULL, touched DATETIME NOT NULL, UNIQUE KEY one_line (customer_id, product_id), KEY by_touched (touched))
INSERT INTO carts (customer_id, product_id, quantity, touched) SELECT i DIV 2, i % 2 * 500 + i DIV 2, 1, '2026-02-01' + INTERVAL i MINUTE FROM m WHERE i < 1000
CREATE TABLE daily (shop INT, day DATE, total INT NOT NULL, PRIMARY KEY (shop, day))
INSERT INTO daily SELECT a.i, '2026-01-01' + INTERVAL b.i DAY, 10 FROM n AS a JOIN n AS b ON a.i < 10

# 5,000 jobs: 4,800 done (2), 20 running (1), 180 ready (0), in five queues.
CREATE TABLE jobs (id INT PRIMARY KEY, queue INT NOT NULL, state TINYINT NOT NULL, priority INT NOT NULL, run_at DATETIME NOT NULL, worker INT, attempts INT NOT NULL DEFAULT 0, payload VARCHAR(100), KEY by_queue (queue, state, run_at), KEY by_state (state, priority, id), KEY by_worker (worker))
INSERT INTO jobs SELECT i, i % 5, IF(i < 4800, 2, IF(i < 4820, 1, 0)), i % 10, '2026-04-01' + INTERVAL i SECOND, IF(i >= 4800 AND i < 4820, i % 4, NULL), 0, CONCAT('payload ', i) FROM m WHERE i < 5000

# 4,000 messages of an outbox, the last 40 not sent.
CREATE TABLE outbox (id INT PRIMARY KEY, topic INT NOT NULL, sent TINYINT NOT NULL, body VARCHAR(60), KEY by_sent (sent, id), KEY by_topic (topic))
INSERT INTO outbox SELECT i, i % 8, i < 3960, CONCAT('body ', i) FROM m WHERE i < 4000

# 3,000 articles of 30 authors, one of ten a draft; two tags of 100 on each, two comments, two things to know.
CREATE TABLE articles (id INT PRIMARY KEY, author_id INT NOT NULL, kind INT NOT NULL, status INT NOT NULL, at DATETIME NOT NULL, slug VARCHAR(60) NOT NULL, title VARCHAR(60) NOT NULL, parent_id INT, KEY by_kind (kind, status, at), UNIQUE KEY by_slug (slug), KEY by_author (author_id, at), KEY by_title (title), KEY by_parent (parent_id))
INSERT INTO articles SELECT i, i % 30, i % 3, IF(i % 10 = 4, 0, 1), '2026-01-01' + INTERVAL i HOUR, CONCAT('article-', i), CONCAT(CHAR(97 + i % 26), ' title ', i), IF(i % 3 = 2, i - 2, NULL) FROM m WHERE i < 3000
CREATE TABLE tags (id INT PRIMARY KEY, name VARCHAR(30) NOT NULL, UNIQUE KEY by_name (name))
INSERT INTO tags SELECT i, CONCAT('tag', i) FROM n WHERE i < 100
CREATE TABLE tagged (article_id INT, tag_id INT, PRIMARY KEY (article_id, tag_id), KEY by_tag (tag_id, article_id))
INSERT INTO tagged SELECT i, i % 100 FROM m WHERE i < 3000 UNION ALL SELECT i, (i + 37) % 100 FROM m WHERE i < 3000
CREATE TABLE meta (id INT PRIMARY KEY AUTO_INCREMENT, article_id INT NOT NULL, name VARCHAR(40) NOT NULL, value VARCHAR(60), KEY by_article (article_id), KEY by_name (name(20)))
INSERT INTO meta (article_id, name, value) SELECT i DIV 2, IF(i % 2, 'thumbnail', IF(i % 300 = 0, 'featured', 'layout')), i % 7 FROM m WHERE i < 6000
CREATE TABLE comments (id INT PRIMARY KEY, article_id INT NOT NULL, user_id INT NOT NULL, approved TINYINT NOT NULL, at DATETIME NOT NULL, body VARCHAR(60), KEY by_article (article_id, approved, at), KEY by_approved (approved, at))
INSERT INTO comments SELECT i, i DIV 2, i % 100, i % 50 > 0, '2026-02-01' + INTERVAL i MINUTE, CONCAT('comment ', i) FROM m WHERE i < 6000
CREATE TABLE options (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, value VARCHAR(40), autoload TINYINT NOT NULL, UNIQUE KEY by_name (name), KEY by_autoload (autoload))
INSERT INTO options (name, value, autoload) SELECT CONCAT('option', i), i, i % 5 = 0 FROM n
# A menu: a root, ten below it, ten below each of these.
CREATE TABLE menu (id INT PRIMARY KEY, parent_id INT, place INT NOT NULL, title VARCHAR(40), KEY by_parent (parent_id, place))
INSERT INTO menu SELECT i, IF(i = 0, NULL, IF(i <= 10, 0, (i - 1) DIV 10)), i, CONCAT('entry ', i) FROM n WHERE i < 111

# What frameworks keep: sessions, who belongs to which group, what happened to which object.
CREATE TABLE sessions (id VARCHAR(40) PRIMARY KEY, user_id INT, expires DATETIME NOT NULL, data VARCHAR(40), KEY by_expires (expires))
INSERT INTO sessions SELECT CONCAT('session', i), i % 500, '2026-05-01' + INTERVAL i MINUTE, 'data' FROM m WHERE i < 1000
CREATE TABLE memberships (id INT PRIMARY KEY, user_id INT NOT NULL, group_id INT NOT NULL, UNIQUE KEY one_place (user_id, group_id), KEY by_group (group_id))
INSERT INTO memberships SELECT i, i DIV 3, i % 3 * 20 + i DIV 3 % 20 FROM m WHERE i < 3000
CREATE TABLE audits (id INT PRIMARY KEY, kind VARCHAR(20) NOT NULL, object_id INT NOT NULL, at DATETIME NOT NULL, action VARCHAR(20), KEY by_object (kind, object_id, at))
INSERT INTO audits SELECT i, IF(i % 2, 'Order', 'Customer'), i DIV 6, '2026-03-01' + INTERVAL i SECOND, 'update' FROM m WHERE i < 3000

# As applications see them.
CREATE VIEW open_orders AS SELECT id, customer_id, created, total, note FROM orders WHERE status <> 3
CREATE VIEW spent AS SELECT customer_id, COUNT(*) AS orders, SUM(total) AS total FROM orders GROUP BY customer_id
CREATE VIEW posts AS SELECT a.id, a.title, a.at, a.kind, a.author_id FROM articles AS a WHERE a.status = 1
