package handlersocket

import "context"

// Count says how many rows a Query means. Without a Limit it counts all of them, over the connection
// for long finds.
func (x *Index[T]) Count(ctx context.Context, q Query) (int64, error) {
	return do(ctx, x.client, x.count(q))
}

// Exists says whether a Query means a row.
func (x *Index[T]) Exists(ctx context.Context, q Query) (bool, error) {
	return do(ctx, x.client, x.exists(q))
}

func (x *Index[T]) count(q Query) request[int64] {
	route := RouteRead
	if q.long || !q.limited || x.err == nil && q.limit >= uint64(x.client.config.LongLimit) {
		route = RouteLong
	}
	return counting(x, &q, opCount, route, q.appendCount, readCount)
}

func (x *Index[T]) exists(q Query) request[bool] {
	route := RouteRead
	if q.long {
		route = RouteLong
	}
	return counting(x, &q, opExists, route, q.appendExists, readExists)
}

func counting[T, R any](
	x *Index[T], q *Query, op operation, route Route,
	write func([]byte, *definition) ([]byte, error), read func(*call) (R, error),
) request[R] {
	if x.err != nil {
		return failed[R](nil, x.err)
	}
	k := x.newCall(x.definition, kindCount, op)
	line, err := write(k.request, x.definition)
	if err != nil {
		return failed[R](k, err)
	}
	if q.isEmpty() {
		k.free()
		return request[R]{nothing: true}
	}
	k.request = append(line, lf)
	return request[R]{call: k, route: route, read: read}
}

func readExists(k *call) (bool, error) {
	found, err := readCount(k)
	if err == nil && found > 1 {
		err = wrongReply("1 or 0 was expected")
	}
	return found == 1, err
}
