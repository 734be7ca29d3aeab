package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/front/httpd"
)

// Options configure a server.
type Options struct {
	// Command makes the command of a process, which calls [Work]. It is killed when the context is
	// done.
	Command func(context.Context) *exec.Cmd

	Kinds  []string // kinds of work; each has a path, /v1/KIND
	Short  []string // kinds of short work, which have separate processes
	Limits Limits   // of each request

	Processes      int   // maximum number of processes at a time for work that is not short
	ShortProcesses int   // maximum number of processes at a time for short work
	Queue          int   // maximum number of waiting requests, for each of the two
	Bodies         int64 // bytes of requests in the server's memory; 0: see DefaultBodies

	Log *slog.Logger // a line per request
}

// Server answers requests by running processes.
type Server struct {
	o           Options
	long, short *lane
	bodies      *httpd.Bodies
	starter     starter
	walls       Walls // walls that processes must have; see Probe

	metrics  httpd.Metrics
	requests httpd.Counter
	seconds  httpd.Counter
	waits    httpd.Counter
	passed   httpd.Counter
	cpu      httpd.Counter
	memory   httpd.Counter
}

// DefaultBodies returns the default limit on the bytes of requests in the server's memory.
func DefaultBodies(l Limits) int64 { return 4 * max(l.Bytes, 1<<20) }

// New makes a server. It starts nothing before [Server.Mount].
func New(o Options) (*Server, error) {
	if err := o.Limits.Check(); err != nil {
		return nil, err
	}
	if o.Processes < 1 || o.Queue < 0 || o.ShortProcesses < 1 && len(o.Short) > 0 {
		return nil, fmt.Errorf("%d processes, %d for short work, and a queue of %d: there must be at least 1, 1, and 0", o.Processes, o.ShortProcesses, o.Queue)
	}
	if o.Bodies == 0 {
		o.Bodies = DefaultBodies(o.Limits)
	}
	if least := httpd.MinTotal(o.Limits.Bytes); o.Bodies < least {
		return nil, fmt.Errorf("%d bytes for the bodies of requests: there must be at least %d, for one of the largest", o.Bodies, least)
	}
	s := &Server{o: o, long: newLane(o.Processes, o.Queue), short: newLane(max(1, o.ShortProcesses), o.Queue), bodies: httpd.NewBodies(o.Limits.Bytes, o.Bodies, o.Queue)}
	m := &s.metrics
	times := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
	s.requests = m.Counter("ppl_requests_total", "Requests answered, by kind of work and HTTP status; 499: the client disconnected.")
	s.seconds = m.Histogram("ppl_request_seconds", "Time from a request to the end of its answer, by the kind of work.", times...)
	s.waits = m.Histogram("ppl_queue_seconds", "Time that requests waited for a process.", times...)
	s.passed = m.Counter("ppl_limits_total", "Requests that exceeded a limit, by its name.")
	s.cpu = m.Counter("ppl_process_cpu_seconds_total", "Processor time used by processes, by kind of work.")
	s.memory = m.Histogram("ppl_process_memory_bytes", "Largest memory of each process (resident).", 32<<20, 64<<20, 128<<20, 256<<20, 512<<20, 1<<30, 2<<30, 4<<30, 8<<30)
	for _, lane := range []struct {
		suffix, what string
		*lane
	}{{"", "", s.long}, {"_short", ", on short work", s.short}} {
		m.Gauge("ppl_processes"+lane.suffix, "Processes at work"+lane.what+".", func() float64 { return float64(lane.working()) })
		m.Gauge("ppl_queue"+lane.suffix, "Requests that wait for a process"+lane.what+".", func() float64 { return float64(lane.queued()) })
		m.Gauge("ppl_processes"+lane.suffix+"_limit", "Processes that may work at the same time"+lane.what+".", func() float64 { return float64(cap(lane.slots)) })
	}
	m.Gauge("ppl_bodies_bytes", "Bytes of request bodies in the server's memory, or reserved for them.", func() float64 { return float64(s.bodies.Held()) })
	m.Gauge("ppl_bodies_limit_bytes", "Largest number of bytes of request bodies in the server's memory.", func() float64 { return float64(o.Bodies) })
	m.Gauge("ppl_bodies_waiting", "Requests whose bodies wait for memory.", func() float64 { return float64(s.bodies.Waiting()) })
	m.Gauge("ppl_confined", "1 if processes of work are confined by seccomp, else 0.", func() float64 {
		if s.walls.Confined() {
			return 1
		}
		return 0
	})
	began := float64(time.Now().UnixMilli()) / 1000
	m.Gauge("process_start_time_seconds", "Time when the server started, in seconds since 1970.", func() float64 { return began })
	return s, nil
}

// Mount adds the paths: POST /v1/KIND for each kind of work, GET /v1/limits,
// GET /metrics, and GET /healthz, which needs no token.
func (s *Server) Mount(w *httpd.Server) {
	for _, kind := range s.o.Kinds {
		w.Handle("POST /v1/"+kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, kind) }))
	}
	w.Handle("GET /v1/limits", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpd.Answer(w, http.StatusOK, LimitsAnswer{LimitsVersion, s.o.Limits})
	}))
	w.Handle("GET /metrics", &s.metrics)
	w.HandleOpen("GET /healthz", http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		if w.Ending() {
			httpd.Answer(out, http.StatusServiceUnavailable, map[string]string{"status": "ending"})
			return
		}
		httpd.Answer(out, http.StatusOK, map[string]string{"status": "ok"})
	}))
}

// statusGone is the status in logs of a request whose client has disconnected.
const statusGone = 499

// errGone says that the client has disconnected.
var errGone = &httpd.Error{Status: statusGone, Kind: "request", Message: "the client disconnected"}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, kind string) {
	began := time.Now()
	status := http.StatusOK
	a := &answer{w: w, stream: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}
	err := s.request(r, a, kind)
	attrs := []any{"work", kind, "client", r.RemoteAddr}
	if err != nil {
		status = err.Status
		attrs = append(attrs, "error", err.Message)
		if err.Kind == "limit" {
			s.passed(1, "limit", err.Limit)
		}
		if status != statusGone {
			a.fail(err)
		}
	}
	elapsed := time.Since(began)
	s.requests(1, "work", kind, "status", strconv.Itoa(status))
	s.seconds(elapsed.Seconds(), "work", kind)
	s.o.Log.Info("request", append(attrs, "status", status, "seconds", float64(elapsed.Milliseconds())/1000)...)
	if a.broken {
		panic(http.ErrAbortHandler) // so that the client notices that the answer is incomplete
	}
}

// request reads a request and does its work.
func (s *Server) request(r *http.Request, a *answer, kind string) *httpd.Error {
	lane := s.lane(kind)
	if err := s.bodies.CheckJSON(r); err == nil && lane.full() { // before the body is read
		httpd.Discard(a.w, r)
		return lane.busy()
	}
	body, err := s.bodies.ReadJSON(a.w, r)
	if err != nil {
		return err.(*httpd.Error) // ReadJSON returns only this type of error
	}
	defer body.Release()
	return s.work(r.Context(), kind, body.Text, body.Release, a)
}

// lane returns the lane for a kind of work.
func (s *Server) lane(kind string) *lane {
	if slices.Contains(s.o.Short, kind) {
		return s.short
	}
	return s.long
}

// Do does work in a process, as for a request over HTTP, and returns its result. It calls event, if
// that is not nil, with the events progress and print. The end of ctx ends the work. The caller
// checks the limit Bytes, since a part of the body may be its own.
func (s *Server) Do(ctx context.Context, kind string, body []byte, event func(event string, text []byte)) (json.RawMessage, *httpd.Error) {
	began := time.Now()
	c := &collected{events: event}
	err := s.work(ctx, kind, body, func() {}, c)
	attrs := []any{"work", kind, "seconds", float64(time.Since(began).Milliseconds()) / 1000}
	if err != nil {
		attrs = append(attrs, "error", err.Message)
	}
	s.o.Log.Info("request", attrs...)
	return c.text, err
}

// receiver receives the answer of a process.
type receiver interface {
	wantsEvents() bool
	event(event string, r io.Reader, n int64) error
	result(r io.Reader, n int64) bool // reports whether it was received
	sent(err error) error             // records whether an event was received
	state() (gone, whole bool)        // whether the client is gone, and the result was received
}

// collected is an answer in memory.
type collected struct {
	events func(event string, text []byte)
	text   json.RawMessage
}

func (c *collected) wantsEvents() bool { return c.events != nil }

func (c *collected) event(event string, r io.Reader, n int64) error {
	text := make([]byte, n)
	_, err := io.ReadFull(r, text)
	if err == nil {
		c.events(event, text)
	}
	return err
}

func (c *collected) result(r io.Reader, n int64) bool {
	text, err := io.ReadAll(io.LimitReader(r, n)) // it grows with what arrives
	if err != nil || int64(len(text)) < n {
		return false
	}
	c.text = text
	return true
}

func (c *collected) sent(err error) error      { return err }
func (c *collected) state() (gone, whole bool) { return false, c.text != nil }

// work waits for a free process and passes the request to it. release is called when the process
// has received the body.
func (s *Server) work(ctx context.Context, kind string, body []byte, release func(), a receiver) *httpd.Error {
	lane := s.lane(kind)
	waits := time.Now()
	leave, busy := lane.enter(ctx)
	if busy != nil {
		return busy
	}
	defer leave()
	s.waits(time.Since(waits).Seconds())

	p, err := s.start(ctx, &job{Kind: kind, Stream: a.wantsEvents(), Limits: s.o.Limits, Walls: s.walls, body: body})
	release()
	if err != nil && ctx.Err() != nil {
		return gone(ctx)
	}
	if err != nil {
		s.o.Log.Error("cannot start a process", "error", err)
		return httpd.Busy("no process can be started")
	}
	out := s.relay(p, a)
	state := p.end()
	s.account(kind, state)
	if left, whole := a.state(); left || ctx.Err() != nil && !whole {
		return gone(ctx)
	}
	if out == nil {
		return nil
	}
	if out == lost { // find out more
		out = p.silence(state)
		if out == lost {
			s.o.Log.Error("a process ended without an answer", "work", kind, "state", fmt.Sprint(state), "stderr", p.stderr.String())
		}
	} else if out.Kind == "internal" {
		s.o.Log.Error("a process failed", "work", kind, "stderr", p.stderr.String())
		out = &Failure{Kind: "internal", Message: "the work failed because of an error in ppl; see the log of the server"}
	}
	return refuse(out)
}

// gone returns the error for a request whose context is done: the client has disconnected, or the
// server is shutting down.
func gone(ctx context.Context) *httpd.Error {
	if errors.Is(context.Cause(ctx), httpd.ErrEnding) {
		return httpd.Busy(httpd.ErrEnding.Error())
	}
	return errGone
}

// relay passes the events of a process to the client. It returns the failure that the process
// reports, lost if the process ended without a report, or nil.
func (s *Server) relay(p *process, a receiver) *Failure {
	maxResult := 64<<20 + 32*s.o.Limits.Elements // a number has at most 25 characters
	for {
		event, length, err := readHead(p.out, maxResult)
		switch {
		case errors.Is(err, errFrame):
			s.o.Log.Error("a process sent something that is not an answer")
			return &Failure{Kind: "internal"}
		case err != nil:
			return lost
		case event == eventLimits:
			err = p.lower(length)
		case event == eventFailure:
			return p.failure(length)
		case event == eventResult:
			p.done()
			if !a.result(p.out, length) {
				return lost
			}
			return nil
		case !a.wantsEvents():
			_, err = io.CopyN(io.Discard, p.out, length)
		default:
			err = a.sent(a.event(event, p.out, length))
		}
		if err != nil {
			return lost
		}
	}
}

// account adds an ended process's resource usage to the metrics.
func (s *Server) account(kind string, state *os.ProcessState) {
	if state == nil {
		return
	}
	s.cpu((state.UserTime() + state.SystemTime()).Seconds(), "work", kind)
	if bytes := peak(state); bytes > 0 {
		s.memory(float64(bytes))
	}
}

// refuse converts a failure to an HTTP error.
func refuse(f *Failure) *httpd.Error {
	e := &httpd.Error{Status: http.StatusInternalServerError, Kind: f.Kind, Limit: f.Limit, Message: f.Message, Messages: f.Messages}
	switch {
	case f.Kind == "request":
		e.Status = http.StatusBadRequest
	case f.Kind == "model":
		e.Status = http.StatusUnprocessableEntity
	case f.Kind == "limit" && f.Limit == "seconds":
		e.Status = http.StatusGatewayTimeout
	case f.Kind == "limit":
		e.Status = http.StatusUnprocessableEntity
	default:
		e.Kind = "internal"
	}
	return e
}

// answer is an answer to a client: optional events, then a result or an error.
type answer struct {
	w      http.ResponseWriter
	stream bool          // as events
	events *httpd.Stream // set after the first event
	whole  bool          // the result was sent
	broken bool          // the answer is incomplete and will remain so
	gone   bool          // because the client has disconnected
}

func (a *answer) wantsEvents() bool         { return a.stream }
func (a *answer) state() (gone, whole bool) { return a.gone, a.whole }

func (a *answer) event(event string, r io.Reader, n int64) error {
	if a.events == nil {
		a.events = httpd.NewStream(a.w)
	}
	return a.events.Send(event, r, n)
}

// result sends n bytes from r as the last part of the answer, and reports whether that succeeded.
func (a *answer) result(r io.Reader, n int64) bool {
	var err error
	if a.stream {
		err = a.event(eventResult, r, n)
	} else {
		h := a.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.FormatInt(n+1, 10))
		_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(httpd.WriteTimeout))
		if _, err = io.CopyN(a.w, r, n); err == nil {
			_, err = io.WriteString(a.w, "\n")
		}
	}
	a.whole = a.sent(err) == nil
	return a.whole
}

// sent records whether a part of the answer was sent.
func (a *answer) sent(err error) error {
	if err != nil {
		a.broken = true
		// With these errors, the process has stopped in the middle of its answer, not the client.
		a.gone = !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
	}
	return err
}

// fail sends an error: with its status if nothing was sent before, else as an event.
func (a *answer) fail(e *httpd.Error) {
	switch {
	case a.broken:
		return
	case a.events == nil:
		httpd.Fail(a.w, e)
		return
	}
	_ = a.sent(a.events.SendJSON(eventFailure, e.Answer()))
}
