package main

import (
	"errors"

	"github.com/redis/go-redis/v9"
)

type goRedis struct{ client redis.UniversalClient }

func optionsOf(at place) *redis.Options {
	return &redis.Options{Addr: at.address, Username: at.user, Password: at.password, TLSConfig: at.tls}
}

func newGoRedis(at place) (client, error) {
	return goRedis{redis.NewClient(optionsOf(at))}, nil
}

// answer is a command's value; nil and errors are values, too.
func answer(value any, err error) any {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	return value
}

func (one goRedis) do(words ...any) any {
	return answer(one.client.Do(background, words...).Result())
}

func (one goRedis) pipeline(transaction bool, commands ...[]any) any {
	batch := one.client.Pipeline()
	if transaction {
		batch = one.client.TxPipeline()
	}
	for _, words := range commands {
		batch.Do(background, words...)
	}
	done, err := batch.Exec(background)
	if err != nil {
		return err
	}
	answers := []any{}
	for _, one := range done {
		answers = append(answers, answer(one.(*redis.Cmd).Result()))
	}
	return answers
}

func (one goRedis) scan(pattern string) any {
	keys := []string{}
	pages := one.client.Scan(background, 0, pattern, 1).Iterator()
	for pages.Next(background) {
		keys = append(keys, pages.Val())
	}
	if err := pages.Err(); err != nil {
		return err
	}
	return keys
}

func (one goRedis) close() { _ = one.client.Close() }

// autoPipeline is go-redis with a pipeline that its callers share without knowing it.
type autoPipeline struct {
	goRedis
	shared *redis.AutoPipeliner
}

func newAutoPipeline(at place) (client, error) {
	plain := redis.NewClient(optionsOf(at))
	shared, err := plain.AutoPipeline()
	return autoPipeline{goRedis{plain}, shared}, err
}

func (one autoPipeline) do(words ...any) any {
	return answer(one.shared.Do(background, words...).Result())
}
