//go:build e2e

package handlersocket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// What an application gets: typed rows, each caller asking for one random row at a time. It needs
// HS_E2E_URL and a table `user` with HS_E2E_ROWS rows in its database.

type benchUser struct {
	Name    string `hs:"user_name"`
	Email   string `hs:"user_email"`
	Created string `hs:"created"`
}

func BenchmarkCallers(b *testing.B) {
	rows := rowsOfUser(b)
	for _, callers := range []int{1, 16, 256, 1000} {
		b.Run(fmt.Sprintf("get-%d", callers), func(b *testing.B) {
			c := openE2E(b)
			users := IndexOf[benchUser](c, IndexSpec{Table: "user"})
			callers := callers
			measure(b, c, callers, func(ctx context.Context, r *rand.Rand) error {
				key := 1 + r.IntN(rows)
				user, err := users.Get(ctx, key)
				if err == nil && user.Name != fmt.Sprintf("user_%07d", key) {
					err = fmt.Errorf("the row of %d is %s", key, user.Name)
				}
				return err
			})
		})
		b.Run(fmt.Sprintf("update-%d", callers), func(b *testing.B) {
			c := openE2E(b)
			users := c.Index(IndexSpec{Table: "user", Columns: []string{"created"}})
			measure(b, c, callers, func(ctx context.Context, r *rand.Rand) error {
				_, err := users.Modify(ctx, Eq(1+r.IntN(rows)), OpUpdate, "2024-02-29 00:00:01")
				return err
			})
		})
	}
}

func measure(b *testing.B, c *Client, callers int, work func(context.Context, *rand.Rand) error) {
	ctx := context.Background()
	if err := c.Ping(ctx); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	before, used := c.Stats(), cpuTime()
	b.ResetTimer()
	for i := range callers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for next.Add(1) <= int64(b.N) {
				if err := work(ctx, r); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	after := c.Stats()
	b.ReportMetric(float64((cpuTime()-used).Nanoseconds())/1000/float64(b.N), "cpu-µs/request")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "requests/s")
	b.ReportMetric(float64(after.Requests-before.Requests)/float64(after.Writes-before.Writes), "requests/write")
	b.ReportMetric(float64(after.Requests-before.Requests)/float64(after.Reads-before.Reads), "requests/read")
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
