package handlersocket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

// The project's scenarios, played with this client.

type scenario struct {
	Name, Why string
	Options   map[string]json.RawMessage
	Cuts      []int
	Servers   []map[string]*[]script
	Steps     []json.RawMessage
}

type applicationStep struct {
	requestVector
	Call, Result, Cancel string
	Pipeline, Group      []requestVector
	Iterate              *json.RawMessage
	Close                bool
	PauseMs              int `json:"pause_ms"`
	Signal, Await        string
	Gives                json.RawMessage
	TimeoutMs            *int `json:"timeout_ms"`
	ServerMs             int  `json:"server_ms"`
	Describe             string
	Hello                bool
	Databases, Ping      bool
	Tables               *string
	Indexes              []string
	Take                 int
	SignalAfterFirst     string `json:"signal_after_first"`
}

type wantedResult struct {
	Rows          *[][]byteText
	Modified      *int64
	ID            json.RawMessage
	Count         *int64
	Exists        *bool
	Outcomes      [][2]any
	Error         json.RawMessage
	Sent          *bool
	MaybeExecuted *bool `json:"maybe_executed"`
	Described     *describedVector
	Pairs         *[][2]string
	Names         *[]byteText
	Listed        *[]listedVector
	Pong          *bool
	Code, Line    *int
	Text, Kind    *string
	Number        *int
	SQLState      *string `json:"sqlstate"`
	Message       json.RawMessage
	AfterMs       int `json:"after_ms"`
	WithinMs      int `json:"within_ms"`
}

// outcome is what a call gave.
type outcome struct {
	rows  []Row
	count int64
	id    uint64
	// Of a count it is `count`, and whether there is a row is one of 0.
	outcomes []Outcome
	// Of a group: what each of its requests gave, if it was done.
	each      []outcome
	described *Description
	hello     Hello
	names     []string
	listed    []ListedIndex
	pong      bool
	err       error
	took      time.Duration
}

func TestScenarios(t *testing.T) {
	for _, s := range loadVectors[scenario](t, "scenarios") {
		cuts := s.Cuts
		if cuts == nil {
			cuts = []int{0}
		}
		for _, cut := range cuts {
			name := s.Name
			if s.Cuts != nil {
				name = fmt.Sprintf("%s/%d", s.Name, cut)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.play(t, cut)
			})
		}
	}
}

// decodeWhole decodes what stands there, and nothing that this driver does not know.
func decodeWhole(t testing.TB, data []byte, to any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

type player struct {
	t       *testing.T
	client  *Client
	signals signals
	indexes map[string]*Index[Row]
	calls   map[string]chan outcome
	cancels map[string]context.CancelFunc
}

func (s *scenario) play(t *testing.T, cut int) {
	p := &player{t: t, calls: map[string]chan outcome{}, cancels: map[string]context.CancelFunc{}}
	config := s.config(t)
	var ports []*playedPort
	for _, server := range s.Servers {
		address := Address{Host: "127.0.0.1"}
		for name, to := range map[string]*int{"read": &address.Port, "write": &address.PortWrite} {
			scripts, configured := server[name]
			if !configured {
				continue
			}
			var all []script
			if scripts != nil {
				all = *scripts
			}
			port := playPort(t, name, all, cut, &p.signals)
			*to = port.port()
			if scripts == nil {
				// Nobody listens there any more.
				_ = port.listener.Close()
				continue
			}
			ports = append(ports, port)
		}
		config.Addresses = append(config.Addresses, address)
	}
	var err error
	if p.client, err = New(config); err != nil {
		t.Fatal(err)
	}
	p.indexes = map[string]*Index[Row]{
		"t": p.client.Index(IndexSpec{Database: "db", Table: "t", Columns: []string{"a", "b"}}),
		"u": p.client.Index(IndexSpec{Database: "db", Table: "u", Columns: []string{"a"}}),
	}
	for i, data := range s.Steps {
		var step applicationStep
		decodeWhole(t, data, &step)
		if err := p.step(&step); err != nil {
			t.Errorf("step %d, %s: %v", i+1, data, err)
		}
	}
	for _, port := range ports {
		if err := port.finish(); err != nil {
			t.Error(err)
		}
	}
	_ = p.client.Close()
	for _, port := range ports {
		if err := port.stop(); err != nil {
			t.Error(err)
		}
	}
}

func (s *scenario) config(t *testing.T) Config {
	c := Config{
		Timeout: patience, ConnectTimeout: patience, BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond,
	}
	for name, value := range s.Options {
		var number int
		var text string
		if json.Unmarshal(value, &number) != nil {
			if err := json.Unmarshal(value, &text); err != nil {
				t.Fatal(err)
			}
		}
		switch name {
		case "retry_reads":
			c.RetryReads = number
		case "connect_attempts":
			c.ConnectAttempts = number
		case "max_reply_bytes":
			c.MaxReplyBytes = number
		case "max_in_flight":
			c.MaxInFlight = number
		case "dead_after_ms":
			c.DeadAfter = time.Duration(number) * time.Millisecond
		case "texts":
			c.Texts = text == "on"
		case "when_full":
			c.FailWhenFull = text == "fail"
		case "read_after_write":
			c.ReadYourWrites = text == "sent"
		case "secret":
			c.Secret = text
		case "user":
			c.User = text
		case "password":
			c.Password = text
		default:
			t.Fatalf("unknown option %s", name)
		}
	}
	return c
}

func (p *player) step(s *applicationStep) error {
	switch {
	case s.Pipeline != nil:
		return p.pipeline(s)
	case s.Iterate != nil:
		return p.iterate(s)
	case s.Find != nil || s.Insert != nil || s.InsertRows != nil || s.Group != nil || s.Describe != "" || s.Hello || s.lists():
		began := time.Now()
		ctx, cancel := p.context(s)
		if s.Call != "" {
			result := make(chan outcome, 1)
			p.calls[s.Call], p.cancels[s.Call] = result, cancel
			go func() { result <- p.begin(ctx, began, s) }()
			return nil
		}
		defer cancel()
		return check(p.begin(ctx, began, s), s.Gives)
	case s.Result != "":
		select {
		case got := <-p.calls[s.Result]:
			return check(got, s.Gives)
		case <-time.After(patience):
			return errors.New("the call does not end")
		}
	case s.Cancel != "":
		p.cancels[s.Cancel]()
	case s.Close:
		return p.client.Close()
	case s.PauseMs > 0:
		time.Sleep(time.Duration(s.PauseMs) * time.Millisecond)
	case s.Signal != "":
		p.signals.give(s.Signal)
	case s.Await != "":
		return p.signals.await(s.Await)
	default:
		return errors.New("an unknown step")
	}
	return nil
}

func (p *player) context(s *applicationStep) (context.Context, context.CancelFunc) {
	if s.TimeoutMs == nil {
		return context.WithCancel(p.t.Context())
	}
	timeout := time.Duration(*s.TimeoutMs) * time.Millisecond
	if timeout == 0 {
		// No deadline is one that is far away.
		timeout = time.Hour
	}
	return context.WithTimeout(p.t.Context(), timeout)
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (p *player) index(name string) *Index[Row] {
	if name == "" {
		name = "t"
	}
	return p.indexes[name]
}

func (p *player) begin(ctx context.Context, began time.Time, s *applicationStep) outcome {
	var o outcome
	switch {
	case s.Group != nil:
		o = p.group(ctx, s)
	case s.Describe != "":
		o = p.describe(ctx, s.Describe)
	case s.Hello:
		o.hello, o.err = p.client.Hello(ctx)
	case s.lists():
		o = p.list(ctx, s)
	default:
		o = p.call(ctx, s)
	}
	o.took = time.Since(began)
	return o
}

func (p *player) describe(ctx context.Context, what string) outcome {
	spec := p.index("t").spec
	if what == "all" {
		spec.Columns = nil
	}
	var o outcome
	o.described, o.err = p.client.Describe(ctx, spec)
	return o
}

func (p *player) call(ctx context.Context, s *applicationStep) outcome {
	var o outcome
	r := &s.requestVector
	index := p.index
	if s.ServerMs > 0 {
		index = func(name string) *Index[Row] { return p.index(name).Within(milliseconds(s.ServerMs)) }
	}
	switch {
	case r.Insert != nil:
		o.id, o.err = index(r.Insert.Index).InsertValues(ctx, anyOf(r.Insert.Values)...)
	case r.InsertRows != nil:
		o.outcomes, o.err = do(ctx, p.client, r.rowsRequest(index(r.InsertRows.Index)))
	case r.Find.Answer == "count":
		o.count, o.err = index(r.Find.Index).Count(ctx, r.query(p.t))
	case r.Find.Answer == "exists":
		var there bool
		if there, o.err = index(r.Find.Index).Exists(ctx, r.query(p.t)); there {
			o.count = 1
		}
	case r.Find.Modify != nil:
		m := r.Find.Modify
		o.count, o.err = index(r.Find.Index).Modify(ctx, r.query(p.t), Op(m.Op), anyOf(m.Values)...)
	case r.isGet():
		// A lookup of one row, as programs do it.
		var row Row
		row, o.err = index(r.Find.Index).Get(ctx, r.query(p.t).key...)
		if o.err == nil {
			o.rows = []Row{row}
		} else if errors.Is(o.err, ErrNoRows) {
			o.err = nil
		}
	default:
		o.rows, o.err = index(r.Find.Index).Find(ctx, r.query(p.t))
	}
	return o
}

// rowsRequest is an insert of rows by position.
func (r *requestVector) rowsRequest(x *Index[Row]) request[[]Outcome] {
	n := newRows{columns: x.definition.columns, about: Duplicate(r.InsertRows.Else)}
	for _, row := range r.InsertRows.Rows {
		n.rows = append(n.rows, anyOf(row))
	}
	return x.insertRows(n, nil, opInsert)
}

func (r *requestVector) isGet() bool {
	f := r.Find
	return f.Op == "" && f.Answer == "" && f.Limit == nil && f.Offset == nil && f.In == nil && len(f.Filters) == 0
}

func (p *player) pipeline(s *applicationStep) error {
	var wanted []json.RawMessage
	if err := json.Unmarshal(s.Gives, &wanted); err != nil {
		return err
	}
	pipeline := p.client.Pipeline()
	results := p.collect(pipeline, s.Pipeline)
	_ = pipeline.Run(p.t.Context())
	for i, result := range results {
		if err := check(result(), wanted[i]); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return nil
}

// group runs a group. What its requests gave is in `each`.
func (p *player) group(ctx context.Context, s *applicationStep) outcome {
	g := p.client.Group()
	if s.ServerMs > 0 {
		g.Within(milliseconds(s.ServerMs))
	}
	results := p.collect(&g.pipeline, s.Group)
	o := outcome{err: g.Run(ctx)}
	var e *Error
	for i, result := range results {
		one := result()
		o.each = append(o.each, one)
		if errors.As(o.err, &e) && e.Line > 0 && (i+1 == e.Line) == (textOfError(one.err) == TextUndone) {
			p.t.Errorf("request %d of a group that %v: %v", i+1, e, one.err)
		}
	}
	return o
}

func textOfError(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Text
	}
	return ""
}

// collect adds requests to a pipeline or a group, and says how their results are had.
func (p *player) collect(pipeline *Pipeline, requests []requestVector) []func() outcome {
	var results []func() outcome
	for i := range requests {
		r := &requests[i]
		switch {
		case r.Insert != nil:
			pending := p.index(r.Insert.Index).In(pipeline).InsertValues(anyOf(r.Insert.Values)...)
			results = append(results, func() (o outcome) { o.id, o.err = pending.Result(); return })
		case r.InsertRows != nil:
			x := p.index(r.InsertRows.Index)
			pending := addTo(x.In(pipeline), r.rowsRequest(x))
			results = append(results, func() (o outcome) { o.outcomes, o.err = pending.Result(); return })
		case r.Find.Answer == "count":
			pending := p.index(r.Find.Index).In(pipeline).Count(r.query(p.t))
			results = append(results, func() (o outcome) { o.count, o.err = pending.Result(); return })
		case r.Find.Modify != nil:
			m := r.Find.Modify
			in := p.index(r.Find.Index).In(pipeline)
			if m.Meets != "" {
				in.meets = m.Meets + "\t"
			}
			pending := in.Modify(r.query(p.t), Op(m.Op), anyOf(m.Values)...)
			results = append(results, func() (o outcome) { o.count, o.err = pending.Result(); return })
		default:
			pending := p.index(r.Find.Index).In(pipeline).Find(r.query(p.t))
			results = append(results, func() (o outcome) { o.rows, o.err = pending.Result(); return })
		}
	}
	return results
}

func (p *player) iterate(s *applicationStep) error {
	r := requestVector{}
	if err := json.Unmarshal(*s.Iterate, &r.Find); err != nil {
		return err
	}
	var o outcome
	for row, err := range p.index(r.Find.Index).Rows(p.t.Context(), r.query(p.t)) {
		if err != nil {
			o.err = err
			continue
		}
		o.rows = append(o.rows, row)
		if len(o.rows) == 1 && s.SignalAfterFirst != "" {
			p.signals.give(s.SignalAfterFirst)
		}
		if len(o.rows) == s.Take {
			break
		}
	}
	return check(o, s.Gives)
}
