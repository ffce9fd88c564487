DROP DATABASE IF EXISTS hst;
CREATE DATABASE hst;
USE hst;
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) DEFAULT 'dflt', b INT DEFAULT 7, c VARCHAR(10) NOT NULL DEFAULT 'x',
  KEY ib (b), KEY iab (a, b), UNIQUE KEY ua (c, id)) ENGINE=InnoDB CHARSET=utf8mb4;
INSERT INTO t VALUES (1, 'one', 1, 'x'), (2, 'two', 2, 'x'), (3, 'three', 3, 'x'), (4, NULL, 4, 'x'), (5, 'five', 5, ''), (6, 'six', 5, 'x'),
  (7, 'sev', 5, 'x');
CREATE TABLE ai (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10)) ENGINE=InnoDB;
CREATE TABLE nokey (a INT) ENGINE=InnoDB;
CREATE TABLE k3 (a INT, b VARCHAR(10), c VARCHAR(10), UNIQUE KEY abc (a, b, c)) ENGINE=InnoDB CHARSET=utf8mb4;
