package main

import "github.com/redis/rueidis"

// rueidisClient sends all callers' commands together. Its cache is off: without Redis's invalidations there is none.
type rueidisClient struct{ client rueidis.Client }

func newRueidis(at place) (client, error) {
	opened, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{at.address}, Username: at.user, Password: at.password, TLSConfig: at.tls,
		DisableCache: true,
	})
	return rueidisClient{opened}, err
}

func (one rueidisClient) command(words []any) rueidis.Completed {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.(string)
	}
	return one.client.B().Arbitrary(texts...).Build()
}

func valueOf(result rueidis.RedisResult) any {
	value, err := result.ToAny()
	if rueidis.IsRedisNil(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return plain(value)
}

// plain gives maps and their like the types that the other client has.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		named := map[any]any{}
		for name, one := range value {
			named[name] = plain(one)
		}
		return named
	case []any:
		for i := range value {
			value[i] = plain(value[i])
		}
	}
	return value
}

func (one rueidisClient) do(words ...any) any {
	return valueOf(one.client.Do(background, one.command(words)))
}

func (one rueidisClient) pipeline(transaction bool, commands ...[]any) any {
	var batch []rueidis.Completed
	if transaction {
		batch = append(batch, one.client.B().Multi().Build())
	}
	for _, words := range commands {
		batch = append(batch, one.command(words))
	}
	if !transaction {
		answers := []any{}
		for _, result := range one.client.DoMulti(background, batch...) {
			answers = append(answers, valueOf(result))
		}
		return answers
	}
	batch = append(batch, one.client.B().Exec().Build())
	var done []rueidis.RedisResult
	check(one.client.Dedicated(func(own rueidis.DedicatedClient) error {
		done = own.DoMulti(background, batch...)
		return nil
	}))
	return valueOf(done[len(done)-1])
}

func (one rueidisClient) scan(pattern string) any {
	keys := []string{}
	pages := rueidis.NewScanner(func(cursor uint64) (rueidis.ScanEntry, error) {
		return one.client.Do(background, one.client.B().Scan().Cursor(cursor).Match(pattern).Count(1).Build()).AsScanEntry()
	})
	for key := range pages.Iter() {
		keys = append(keys, key)
	}
	if err := pages.Err(); err != nil {
		return err
	}
	return keys
}

func (one rueidisClient) close() { one.client.Close() }
