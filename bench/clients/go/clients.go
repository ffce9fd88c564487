package main

import (
	"context"
	"database/sql"
	"log"
	"strconv"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"handlersocket2.example/handlersocket"
)

// place says where the servers are, and by how many callers a client is shared.
type place struct {
	hs, redis, sql string
	callers        int
}

// connections is the size of a pool, for the clients whose callers have a connection each.
func (p place) connections() int { return min(p.callers, mostConnections) }

const mostConnections = 100

// The clients by name. Each gives a function that looks up one row and ends the program if it is a wrong one.
var clients = map[string]func(place) func(key int){
	"ours":                   ours,
	"go-redis":               goRedis,
	"go-redis-auto-pipeline": goRedisAutoPipeline,
	"rueidis":                func(p place) func(int) { return rueidisClient(p, 0) },
	"rueidis-20us":           func(p place) func(int) { return rueidisClient(p, 20*time.Microsecond) },
	"sql":                    sqlDriver,
}

type user struct {
	ID    uint32 `hs:"user_id"`
	Name  string `hs:"user_name"`
	Email string `hs:"user_email"`
}

var background = context.Background()

func ours(p place) func(key int) {
	client, err := handlersocket.Open("handlersocket://127.0.0.1:" + p.hs + "/test")
	check(err)
	users := handlersocket.IndexOf[user](client, handlersocket.IndexSpec{Table: "user"})
	return func(key int) {
		row, err := users.Get(background, key)
		check(err)
		if row.ID != uint32(key) {
			log.Fatal("a wrong row")
		}
	}
}

func redisKey(key int) string { return "user:" + strconv.Itoa(key) }

// checkValue compares a value of Redis, which begins with user_0000042, with its key.
func checkValue(key int, value string, err error) {
	check(err)
	number, err := strconv.Atoi(value[5:12])
	check(err)
	if number != key {
		log.Fatal("a wrong value")
	}
}

func goRedis(p place) func(key int) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + p.redis, PoolSize: p.connections()})
	return func(key int) {
		value, err := client.Get(background, redisKey(key)).Result()
		checkValue(key, value, err)
	}
}

func goRedisAutoPipeline(p place) func(key int) {
	client, err := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + p.redis}).AutoPipeline()
	check(err)
	return func(key int) {
		value, err := client.Get(background, redisKey(key)).Result()
		checkValue(key, value, err)
	}
}

func rueidisClient(p place, delay time.Duration) func(key int) {
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"127.0.0.1:" + p.redis}, DisableCache: true, MaxFlushDelay: delay,
	})
	check(err)
	return func(key int) {
		value, err := client.Do(background, client.B().Get().Key(redisKey(key)).Build()).ToString()
		checkValue(key, value, err)
	}
}

func sqlDriver(p place) func(key int) {
	database, err := sql.Open("mysql", "root@tcp(127.0.0.1:"+p.sql+")/test")
	check(err)
	database.SetMaxOpenConns(p.connections())
	database.SetMaxIdleConns(p.connections())
	statement, err := database.Prepare("SELECT user_id, user_name, user_email FROM user WHERE user_id = ?")
	check(err)
	return func(key int) {
		var row user
		check(statement.QueryRow(key).Scan(&row.ID, &row.Name, &row.Email))
		if row.ID != uint32(key) {
			log.Fatal("a wrong row")
		}
	}
}
