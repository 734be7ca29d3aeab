package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/front/httpd"
)

// TestMain lets the test binary also be the program of the server's processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "work" {
		beforeWork()
		os.Exit(Work(os.Stdin, os.Stdout, os.Stderr, misdeeds))
	}
	if len(os.Args) == 2 && modes[os.Args[1]] != nil {
		modes[os.Args[1]]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// modes are other functions of the test binary, by its argument.
var modes = map[string]func(){}

// beforeWork runs first in a process that does work.
var beforeWork = func() {}

// misdeeds are handlers that try to break the limits or the walls, by kind of work.
var misdeeds = map[string]Handler{
	"echo": func(_ context.Context, c *Call) (any, error) { return json.RawMessage(c.Body), nil },
	"steps": func(_ context.Context, c *Call) (any, error) {
		for i := range 3 {
			if err := c.Progress(i); err != nil {
				return nil, err
			}
		}
		return nil, &Failure{Kind: "model", Message: "no"}
	},
	"lower": func(_ context.Context, c *Call) (any, error) {
		var by map[string]int64
		if err := json.Unmarshal(c.Body, &by); err != nil {
			return nil, err
		}
		err := c.Lower(by)
		return c.Limits, err
	},
	"loop": func(context.Context, *Call) (any, error) {
		for i := 0; ; i++ {
			runtime.KeepAlive(i)
		}
	},
	"sleep": func(context.Context, *Call) (any, error) { select {} },
	"hog": func(context.Context, *Call) (any, error) {
		var all [][]byte
		for {
			b := make([]byte, 10<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			runtime.KeepAlive(all)
		}
	},
	"deep": func(context.Context, *Call) (any, error) { return deep(1), nil },
	// Abort uses the bytes of the request, and dies with words that do not name the reason.
	"abort": func(_ context.Context, c *Call) (any, error) {
		var j struct{ Bytes, Memory int64 }
		if err := json.Unmarshal(c.Body, &j); err != nil {
			return nil, err
		}
		if err := c.Lower(map[string]int64{"memory": j.Memory}); err != nil {
			return nil, err
		}
		b := make([]byte, j.Bytes)
		for i := range b {
			b[i] = 1
		}
		runtime.KeepAlive(b)
		fmt.Fprintln(os.Stderr, "SIGSEGV: segmentation violation")
		os.Exit(2)
		return nil, nil
	},
	"panic": func(context.Context, *Call) (any, error) { panic("a secret") },
	"exit":  func(context.Context, *Call) (any, error) { os.Exit(0); return nil, nil },
	"garbage": func(_ context.Context, c *Call) (any, error) {
		_, err := io.WriteString(c.out, strings.Repeat("garbage", 10000))
		return nil, err
	},
	"huge": func(_ context.Context, c *Call) (any, error) {
		_, err := io.WriteString(c.out, "result 99999999999999\n{")
		return nil, err
	},
	"short": func(_ context.Context, c *Call) (any, error) {
		if _, err := io.WriteString(c.out, "result 1000\n{"); err != nil {
			return nil, err
		}
		os.Exit(0)
		return nil, nil
	},
	"file": func(context.Context, *Call) (any, error) {
		_, err := os.Open(os.Args[0])
		return err == nil, nil
	},
	"connection": func(context.Context, *Call) (any, error) {
		_, err := net.Listen("tcp", "127.0.0.1:0")
		return err == nil, nil
	},
	"signals": func(context.Context, *Call) (any, error) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = errors.Join(self.Signal(os.Interrupt), self.Signal(syscall.SIGTERM))
			time.Sleep(50 * time.Millisecond)
		}
		return err == nil, err
	},
	"environment": func(context.Context, *Call) (any, error) { return os.Getenv("PPL_TOKEN"), nil },
}

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n+1) + deep(n+2)
}

type tested struct {
	*Server
	url string
	log *bytes.Buffer
	end func() error
}

const token = "a token of the tests"

func testServer(t *testing.T, change func(*Options)) *tested {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	var kinds []string
	for k := range misdeeds {
		kinds = append(kinds, k)
	}
	log := &bytes.Buffer{}
	o := Options{
		Command: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0], "work")
			cmd.Env = []string{}
			return cmd
		},
		Kinds:     kinds,
		Limits:    DefaultLimits(),
		Processes: 4, ShortProcesses: 1,
		Queue: 10,
		Log:   slog.New(slog.NewTextHandler(log, nil)),
	}
	o.Limits.Seconds, o.Limits.Memory = 120, 300<<20
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := httpd.Listen(httpd.Options{Address: "127.0.0.1:0", Token: token, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s.Mount(w)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	end := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { end() })
	return &tested{Server: s, url: w.URL(), log: log, end: end}
}

func (s *tested) post(ctx context.Context, kind, accept, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/"+kind, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return got.StatusCode, strings.TrimSpace(string(text)), err
}

// quiet waits until no process is running.
func (s *tested) quiet(t *testing.T) {
	t.Helper()
	for s.long.working() > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestMisdeeds(t *testing.T) {
	s := testServer(t, nil)
	for _, test := range []struct {
		kind, body string
		status     int
		answer     string
		wall       bool // needs a wall that some systems do not support
	}{
		{"echo", `{"a":1}`, 200, `{"a":1}`, false},
		{"steps", `{}`, 422, `{"schema_version":1,"error":{"kind":"model","message":"no"}}`, false},
		{"lower", `{"seconds":3,"bytes":1099511627776}`, 200, `{"bytes":16777216,"elements":10000000,"statements":100000000,"draws":1000000,"prints":1000,"seconds":3,"memory":314572800}`, false},
		{"lower", `{"hours":3}`, 400, `{"schema_version":1,"error":{"kind":"request","message":"no limit is called \"hours\"; the limits are bytes, elements, statements, draws, prints, seconds, memory"}}`, false},
		{"hog", `{}`, 422, `{"schema_version":1,"error":{"kind":"limit","limit":"memory",`, true},
		{"deep", `{}`, 422, `{"schema_version":1,"error":{"kind":"limit","limit":"memory",`, true},
		{"abort", `{"bytes":200000000,"memory":300000000}`, 422, `{"schema_version":1,"error":{"kind":"limit","limit":"memory",`, true},
		{"abort", `{"bytes":140000000,"memory":268435456}`, 422, `{"schema_version":1,"error":{"kind":"limit","limit":"memory",`, true},
		{"abort", `{"bytes":10000000,"memory":300000000}`, 500, `{"schema_version":1,"error":{"kind":"internal",`, true},
		{"panic", `{}`, 500, `{"schema_version":1,"error":{"kind":"internal","message":"the work failed because of an error in ppl; see the log of the server"}}`, false},
		{"exit", `{}`, 500, `{"schema_version":1,"error":{"kind":"internal","message":"the process ended without an answer; see the log of the server"}}`, false},
		{"garbage", `{}`, 500, `{"schema_version":1,"error":{"kind":"internal",`, false},
		{"huge", `{}`, 500, `{"schema_version":1,"error":{"kind":"internal",`, false},
		{"file", `{}`, 200, `false`, true},
		{"connection", `{}`, 200, `false`, true},
		{"environment", `{}`, 200, `""`, false},
		{"signals", `{}`, 200, `true`, true},
	} {
		if test.wall && !MemoryEnforced {
			continue
		}
		status, answer, err := s.post(t.Context(), test.kind, "", test.body)
		if err != nil || status != test.status || !strings.HasPrefix(answer, test.answer) {
			t.Errorf("%s %s: status %d, %s, %v; want %d, %s\n%s", test.kind, test.body, status, answer, err, test.status, test.answer, s.log)
		}
	}
	if _, answer, err := s.post(t.Context(), "short", "", `{}`); err == nil {
		t.Errorf("a part of an answer passes for the whole: %s", answer)
	}
	s.quiet(t)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.log.String(), "a secret") {
		t.Errorf("the log does not tell the panic:\n%s", s.log)
	}
}

func TestEvents(t *testing.T) {
	s := testServer(t, nil)
	_, answer, err := s.post(t.Context(), "steps", "text/event-stream", `{}`)
	want := "event: progress\ndata: 0\n\nevent: progress\ndata: 1\n\nevent: progress\ndata: 2\n\nevent: error\ndata: " + `{"schema_version":1,"error":{"kind":"model","message":"no"}}`
	if err != nil || answer != want {
		t.Errorf("%v:\n%s", err, answer)
	}
	// An error before the first event has its own status.
	if status, answer, _ := s.post(t.Context(), "panic", "text/event-stream", `{}`); status != 500 {
		t.Errorf("status %d, %s", status, answer)
	}
	if status, answer, _ := s.post(t.Context(), "echo", "text/event-stream", `1`); status != 200 || answer != "event: result\ndata: 1" {
		t.Errorf("status %d, %s", status, answer)
	}
}

// TestDo checks work without HTTP: its result, its events, its failures, and that the end of the
// context ends it.
func TestDo(t *testing.T) {
	s := testServer(t, nil)
	got, failure := s.Do(t.Context(), "echo", []byte(`{"a":[1]}`), nil)
	if failure != nil || string(got) != `{"a":[1]}` {
		t.Errorf("%s, %v", got, failure)
	}
	var events []string
	_, failure = s.Do(t.Context(), "steps", nil, func(event string, text []byte) { events = append(events, event+" "+string(text)) })
	if want := []string{"progress 0", "progress 1", "progress 2"}; failure == nil || failure.Kind != "model" || !slices.Equal(events, want) {
		t.Errorf("%q, %v", events, failure)
	}
	if _, failure = s.Do(t.Context(), "short", nil, nil); failure == nil || failure.Kind != "internal" {
		t.Errorf("an incomplete answer: %v", failure)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan *httpd.Error)
	go func() {
		_, failure := s.Do(ctx, "sleep", nil, nil)
		ended <- failure
	}()
	for s.long.working() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if failure := <-ended; failure != errGone || s.long.working() != 0 {
		t.Errorf("cancelled: %v", failure)
	}
}

// TestTime checks that work that does not end is ended by its process or, if that fails, by the
// server.
func TestTime(t *testing.T) {
	for _, kind := range []string{"loop", "sleep"} {
		s := testServer(t, func(o *Options) { o.Limits.Seconds = 1 })
		if status, answer, _ := s.post(t.Context(), kind, "", `{}`); status != 504 || !strings.Contains(answer, `"limit":"seconds"`) {
			t.Errorf("%s: status %d, %s", kind, status, answer)
		}
	}
	s := testServer(t, func(o *Options) { o.Limits.Seconds = 1 })
	s.o.Command = func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "sleep", "100") }
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("no sleep")
	}
	if status, answer, _ := s.post(t.Context(), "echo", "", `{}`); status != 504 {
		t.Errorf("a process that does not end: status %d, %s", status, answer)
	}
}

// TestHangUp checks that disconnecting frees a request's process, or its place in the queue.
func TestHangUp(t *testing.T) {
	s := testServer(t, func(o *Options) { o.Processes, o.Queue = 1, 1 })
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if status, answer, err := s.post(ctx, "sleep", "", `{}`); err == nil {
				t.Errorf("status %d, %s", status, answer)
			}
		})
	}
	for s.long.waiting.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	status, answer, err := s.post(t.Context(), "echo", "", `{}`)
	if err != nil || status != 503 || !strings.Contains(answer, `"kind":"busy"`) {
		t.Errorf("with a full queue: status %d, %s, %v", status, answer, err)
	}
	cancel()
	all.Wait()
	s.quiet(t)
	if status, answer, err := s.post(t.Context(), "echo", "", `1`); status != 200 {
		t.Errorf("afterwards: status %d, %s, %v", status, answer, err)
	}
}

// TestEnd checks that, at shutdown, requests that exceed the grace period get an error, and that
// their processes end.
func TestEnd(t *testing.T) {
	s := testServer(t, nil)
	told := make(chan string, 1)
	go func() {
		status, answer, err := s.post(context.WithoutCancel(t.Context()), "sleep", "", `{}`)
		told <- fmt.Sprint(status, answer, err)
	}()
	for s.long.working() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if got := <-told; got != `503{"schema_version":1,"error":{"kind":"busy","message":"the server is shutting down"}}<nil>` {
		t.Error(got)
	}
}

// TestOrphan checks that a process ends when its server has died.
func TestOrphan(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("no processes")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "work")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limits := DefaultLimits()
	limits.Seconds = 3600 // far beyond the time limit of the tests
	if err := (&job{Kind: "loop", Limits: limits, body: []byte("{}")}).write(stdin); err != nil {
		t.Fatal(err)
	}
	stdin.Close()  // as the system does when the server dies
	_ = cmd.Wait() // returns only if the process ends
}

func TestMetrics(t *testing.T) {
	s := testServer(t, nil)
	s.post(t.Context(), "echo", "", `{}`)
	s.post(t.Context(), "lower", "", `{"hours":1}`)
	if err := s.settled(); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	for _, line := range []string{
		`ppl_requests_total{work="echo",status="200"} 1`, `ppl_requests_total{work="lower",status="400"} 1`,
		`ppl_request_seconds_count{work="echo"} 1`, `ppl_processes 0`, `ppl_queue 0`,
	} {
		if err != nil || !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("%v: there is no line %s in\n%s", err, line, text)
		}
	}
}

// settled waits until answered requests are also counted in the metrics.
func (s *Server) settled() error {
	for range 1000 {
		text := httptest.NewRecorder()
		s.metrics.ServeHTTP(text, nil)
		if strings.Count(text.Body.String(), "\nppl_requests_total{") == 2 {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the requests are not accounted for")
}

func TestLimits(t *testing.T) {
	l := DefaultLimits()
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	l.Memory = 1
	if err := l.Check(); err == nil {
		t.Error("a process in one byte of memory")
	}
}

// FuzzFrames checks that, whatever a process sends, the server reads no more than the limits allow,
// and answers.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"result 2\n{}", "progress 1\n1print 3\n\"a\"error 32\n{\"kind\":\"model\",\"message\":\"no\"}", "result -1\n", "result 9223372036854775808\n", "error 3\nnul", "\n", "print 1048577\n", "result 5\n{}"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, stream bool) {
		s, err := New(Options{Limits: DefaultLimits(), Processes: 1, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		a := &answer{w: w, stream: stream}
		p := &process{out: bufio.NewReader(bytes.NewReader(text)), timer: time.NewTimer(time.Hour)}
		failure := s.relay(p, a)
		if (failure == nil) != a.whole {
			t.Errorf("failure %v, whole: %t", failure, a.whole)
		}
		if failure == nil {
			return
		}
		if status := refuse(failure).Status; status < 400 || status > 599 {
			t.Errorf("status %d", status)
		}
		a.fail(refuse(failure))
		if !a.broken && w.Body.Len() == 0 {
			t.Error("no answer")
		}
	})
}

// TestSlowBodies checks that slowly arriving requests do not delay others.
func TestSlowBodies(t *testing.T) {
	s := testServer(t, func(o *Options) { o.Processes, o.Queue = 1, 2 })
	address := strings.TrimPrefix(s.url, "http://")
	for range 20 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "POST /v1/echo HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n{", address, token); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // so that they have come
	if status, answer, err := s.post(t.Context(), "echo", "", "{}"); err != nil || status != http.StatusOK {
		t.Error(status, answer, err)
	}
}

// TestExpect checks that a client that asks before sending too large a body gets the error at once,
// and is not told to continue.
func TestExpect(t *testing.T) {
	s := testServer(t, nil)
	address := strings.TrimPrefix(s.url, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "POST /v1/echo HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 1000000000000\r\n\r\n", address, token); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, " 413 ") {
		t.Errorf("%q, %v", answer, err)
	}
}

// TestLanes checks that short work does not wait behind long work, and that each lane has its own
// queue.
func TestLanes(t *testing.T) {
	s := testServer(t, func(o *Options) { o.Processes, o.Queue, o.Short = 1, 1, []string{"echo"} })
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { _, _, _ = s.post(ctx, "sleep", "", `{}`) })
	}
	for s.long.waiting.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	if status, answer, err := s.post(t.Context(), "lower", "", `{}`); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("long work in a full lane: status %d, %s, %v", status, answer, err)
	}
	for range 3 {
		if status, answer, err := s.post(t.Context(), "echo", "", `{}`); err != nil || status != http.StatusOK {
			t.Errorf("short work: status %d, %s, %v", status, answer, err)
		}
	}
	cancel()
	all.Wait()
	s.quiet(t)
}

// TestLargeRequests checks that many large simultaneous requests are all answered, and that the
// memory of their bodies never exceeds the limit.
func TestLargeRequests(t *testing.T) {
	const size = 2 << 20
	s := testServer(t, func(o *Options) { o.Limits.Bytes, o.Bodies, o.Queue = size, 2*size, 20 })
	body := `{"a":"` + strings.Repeat("x", size-8) + `"}`
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if status, answer, err := s.post(t.Context(), "echo", "", body); err != nil || status != http.StatusOK || answer != body {
				t.Errorf("status %d, %.100s, %v", status, answer, err)
			}
			if held := s.bodies.Held(); held > 2*size {
				t.Errorf("%d bytes are held", held)
			}
		})
	}
	all.Wait()
	s.quiet(t)
	if held := s.bodies.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}

// TestEnding checks that a draining server answers, and reports that it is shutting down.
func TestEnding(t *testing.T) {
	w, err := httpd.Listen(httpd.Options{Address: "127.0.0.1:0", Drain: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Limits: DefaultLimits(), Processes: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.Mount(w)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _ = w.Serve(ctx) }()
	defer w.Close()
	health := func() int {
		got, err := http.Get(w.URL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		return got.StatusCode
	}
	if got := health(); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	cancel()
	for !w.Ending() {
		time.Sleep(time.Millisecond)
	}
	if got := health(); got != http.StatusServiceUnavailable {
		t.Errorf("while it drains: status %d", got)
	}
}
