-- Containers: tables whose rows are the strings of Redis's and memcached's clients.
--
-- Creates the table in which they are declared, a first one, handlersocket.kv, for all keys that name no
-- other container, and an event that deletes what has expired. It may be executed again: what is there
-- stays. The event runs if event_scheduler is ON, which it is not by default in MariaDB.
-- Clients need the rights to read and change handlersocket.kv, as in SQL. docs/redis.md says the rest.

CREATE DATABASE IF NOT EXISTS handlersocket;

-- The columns are those of MySQL's former memcached plugin, so rows of innodb_memcache.containers fit.
CREATE TABLE IF NOT EXISTS handlersocket.containers (
  name VARCHAR(250) NOT NULL PRIMARY KEY,
  db_schema VARCHAR(250) NOT NULL,
  db_table VARCHAR(250) NOT NULL,
  key_columns VARCHAR(250) NOT NULL,
  value_columns VARCHAR(250),
  flags VARCHAR(250) NOT NULL DEFAULT '0',
  cas_column VARCHAR(250),
  expire_time_column VARCHAR(250),
  unique_idx_name_on_key VARCHAR(250) NOT NULL DEFAULT 'PRIMARY'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- `separator` stands between the values of a container that has several value columns.
CREATE TABLE IF NOT EXISTS handlersocket.config_options (
  name VARCHAR(50) NOT NULL PRIMARY KEY,
  value VARCHAR(50)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- `expires` is a time in seconds since 1970. NULL and 0 mean never. To memcached's clients a `cas` of 0 would
-- mean that there is none, so a row that SQL inserts without one has another.
CREATE TABLE IF NOT EXISTS handlersocket.kv (
  k VARBINARY(1024) NOT NULL PRIMARY KEY,
  v MEDIUMBLOB NOT NULL,
  flags INT UNSIGNED NOT NULL DEFAULT 0,
  cas BIGINT UNSIGNED NOT NULL DEFAULT 1,
  expires DECIMAL(19,3) UNSIGNED,
  KEY by_expires (expires)
) ENGINE=InnoDB;

INSERT IGNORE INTO handlersocket.config_options VALUES ('separator', '|');
INSERT IGNORE INTO handlersocket.containers
  VALUES ('default', 'handlersocket', 'kv', 'k', 'v', 'flags', 'cas', 'expires', 'PRIMARY');

-- Without an argument, UNIX_TIMESTAMP() knows no time zone. A local time such as NOW() is one of two in the hour
-- that comes twice when summer time ends: what has expired would stay, or what has not would be deleted.
CREATE EVENT IF NOT EXISTS handlersocket.delete_expired
  ON SCHEDULE EVERY 2 SECOND
  COMMENT 'Deletes the strings that have expired'
  DO DELETE FROM handlersocket.kv
     WHERE expires > 0 AND expires <= UNIX_TIMESTAMP() ORDER BY expires LIMIT 10000;
