package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const token = "a token of the tests"

func testServer(t *testing.T, o Options) *Server {
	t.Helper()
	o.Address, o.Token = "127.0.0.1:0", token
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	bodies := NewBodies(10, MinTotal(10), 0)
	if o.ReadTimeout > 0 {
		bodies.grace = o.ReadTimeout
	}
	s.Handle("POST /echo", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var text string
		body, err := bodies.ReadJSON(w, r)
		if err == nil {
			text = string(body.Text)
			body.Release()
		}
		if err == nil && text == `"slow"` { // longer than the time limit for reading
			select {
			case <-r.Context().Done():
				err = context.Cause(r.Context())
			case <-time.After(500 * time.Millisecond):
			}
		}
		if e, ok := err.(*Error); ok {
			Fail(w, e)
			return
		}
		Answer(w, 200, fmt.Sprint(text, err))
	}))
	s.HandleOpen("GET /open", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Answer(w, 200, "open") }))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestWalls(t *testing.T) {
	s := testServer(t, Options{ReadTimeout: 200 * time.Millisecond})
	for _, test := range []struct {
		method, path, body, headers string
		status                      int
		answer                      string
	}{
		{"GET", "/open", "", "Authorization: ", 200, `"open"`},
		{"POST", "/echo", `1`, "", 200, `"1<nil>"`},
		{"POST", "/echo", `"slow"`, "", 200, `"\"slow\"<nil>"`},
		{"POST", "/echo", `1`, "Authorization: ", 401, `the token is missing`},
		{"POST", "/echo", `1`, "Authorization: Bearer", 401, `the token is missing`},
		{"POST", "/echo", `1`, "Authorization: Basic " + token, 401, `the token is missing`},
		{"POST", "/echo", `1`, "Authorization: Bearer " + token + "x", 401, `the token is missing`},
		{"POST", "/echo", `1`, "Content-Type: text/plain", 415, `must be JSON`},
		{"POST", "/echo", `1`, "Content-Type: ", 415, `must be JSON`},
		{"POST", "/echo", `1`, "Content-Type: application/json; charset=utf-8", 200, `"1<nil>"`},
		{"POST", "/echo", `12345678901`, "", 413, `"limit":"bytes"`},
		{"POST", "/echo", `1`, "Host: rebound.example", 403, `names of this machine`},
		{"POST", "/echo", `1`, "Host: 127.0.0.1.example:80", 403, `names of this machine`},
		{"POST", "/echo", `1`, "Host: localhost", 200, `"1<nil>"`},
		{"POST", "/echo", `1`, "Host: [::1]:80", 200, `"1<nil>"`},
		{"POST", "/echo", `1`, "Origin: http://other.example", 403, `pages of other sites`},
		{"POST", "/echo", `1`, "Sec-Fetch-Site: cross-site", 403, `pages of other sites`},
		{"GET", "/echo", ``, "", 405, `/echo accepts only POST`},
		{"GET", "/nowhere", ``, "", 404, `nothing at /nowhere`},
	} {
		r, err := http.NewRequest(test.method, s.URL()+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		if name, value, ok := strings.Cut(test.headers, ": "); ok {
			r.Header.Set(name, value)
			if name == "Host" {
				r.Host = value
			}
			if value == "" {
				r.Header.Del(name)
			}
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%v: %v", test, err)
			continue
		}
		text, err := io.ReadAll(got.Body)
		got.Body.Close()
		if err != nil || got.StatusCode != test.status || !strings.Contains(string(text), test.answer) {
			t.Errorf("%v: status %d, %s, %v", test, got.StatusCode, text, err)
		}
	}
}

// TestLargeRequest checks that a client that sends the whole body before it reads the answer still
// receives the error that the body is too large.
func TestLargeRequest(t *testing.T) {
	s := testServer(t, Options{})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 40 << 20
	fmt.Fprintf(c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", token, size)
	if _, err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, " 413 ") {
		t.Errorf("%q, %v", answer, err)
	}
}

// TestSlowRequest checks that an incomplete request ends at the time limit.
func TestSlowRequest(t *testing.T) {
	s := testServer(t, Options{ReadTimeout: 200 * time.Millisecond})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n1", token)
	began := time.Now()
	_ = c.SetReadDeadline(began.Add(10 * time.Second))
	_, _ = io.Copy(io.Discard, c)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it is waited for %v", took)
	}
}

func TestListen(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Address: "0.0.0.0:0"}, "other machines can reach"},
		{Options{Address: ":0"}, "other machines can reach"},
		{Options{Address: "example.com:0"}, "other machines can reach"},
		{Options{Address: "8080"}, "is not host:port"},
		{Options{Address: "127.0.0.1:0", Token: "short"}, "at least 16"},
		{Options{Address: "127.0.0.1:0"}, ""},
		{Options{Address: ":0", Remote: true}, ""},
	} {
		s, err := Listen(test.o)
		if err == nil {
			if len(s.Token()) < minToken {
				t.Errorf("the token %q", s.Token())
			}
			err = s.Close()
		}
		if got := fmt.Sprint(err); (test.want == "") != (err == nil) || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
}

func TestMetricsText(t *testing.T) {
	var m Metrics
	c := m.Counter("a_total", "As.")
	c(1, "k", "x\"\\\n")
	c(2)
	h := m.Histogram("b", "Bs.", 1, 2)
	h(0.5, "k", "v")
	h(2, "k", "v")
	h(3, "k", "v")
	m.Gauge("c", "Cs.", func() float64 { return 1.5 })
	want := `# HELP a_total As.
# TYPE a_total counter
a_total 2
a_total{k="x\"\\\n"} 1
# HELP b Bs.
# TYPE b histogram
b_bucket{k="v",le="1"} 1
b_bucket{k="v",le="2"} 2
b_bucket{k="v",le="+Inf"} 3
b_sum{k="v"} 5.5
b_count{k="v"} 3
# HELP c Cs.
# TYPE c gauge
c 1.5
`
	if got := m.text(); got != want {
		t.Error(got)
	}
}
