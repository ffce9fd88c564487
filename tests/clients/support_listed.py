"""Tables with every kind of index, for what the clients' lists say of them."""

from __future__ import annotations

LISTED = (
    "CREATE TABLE listed (id INT PRIMARY KEY, a INT, word VARCHAR(20), UNIQUE pair (a, id),"
    " KEY beginning (word(4), a DESC))",
    "CREATE TABLE hashed (id INT NOT NULL, KEY by_id (id) USING HASH) ENGINE=MEMORY",
    "CREATE TABLE `über` (`größe` INT PRIMARY KEY)",
    "CREATE TABLE bare (id INT)",
)
