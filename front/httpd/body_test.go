package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// bodyServer starts a server that answers with the length of bodies. It holds some bodies in memory
// until free is called.
func bodyServer(t *testing.T, b *Bodies) (url string, held *atomic.Int64, free func()) {
	t.Helper()
	s, err := Listen(Options{Address: "127.0.0.1:0", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	held = &atomic.Int64{}
	handle := func(keep bool) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := b.ReadJSON(w, r)
			if err != nil {
				Fail(w, err.(*Error))
				return
			}
			defer body.Release()
			if keep {
				held.Add(1)
				<-stop
			}
			Answer(w, 200, len(body.Text))
		})
	}
	s.Handle("POST /length", handle(false))
	s.Handle("POST /hold", handle(true))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	freed := false
	free = func() {
		if !freed {
			freed = true
			close(stop)
		}
	}
	t.Cleanup(func() {
		free()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := b.Held(); n != 0 {
			t.Errorf("%d bytes are still held", n)
		}
	})
	return s.URL(), held, free
}

func sendBody(url string, chunked bool, n int) (status int, answer string, header http.Header) {
	var in io.Reader = strings.NewReader(strings.Repeat("x", n))
	if chunked {
		in = struct{ io.Reader }{in}
	}
	r, _ := http.NewRequest(http.MethodPost, url, in)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer got.Body.Close()
	text, _ := io.ReadAll(got.Body)
	return got.StatusCode, strings.TrimSpace(string(text)), got.Header
}

// TestBodyLengths sends bodies of all lengths around the thresholds. Each arrives completely or is
// refused.
func TestBodyLengths(t *testing.T) {
	const limit = 3*small + 5
	url, _, _ := bodyServer(t, NewBodies(limit, MinTotal(limit), 1))
	for _, n := range []int{0, 1, 2, 8<<10 - 1, 8 << 10, 8<<10 + 1, small - 1, small, small + 1, limit - 1, limit, limit + 1, 3 * limit} {
		for _, chunked := range []bool{false, true} {
			status, answer, _ := sendBody(url+"/length", chunked, n)
			if n <= limit && (status != 200 || answer != fmt.Sprint(n)) || n > limit && (status != 413 || !strings.Contains(answer, `"limit":"bytes"`)) {
				t.Errorf("%d bytes, chunked: %t: status %d, %s", n, chunked, status, answer)
			}
		}
	}
}

// TestBodyBudget checks that large bodies wait for memory, that only a limited number may wait, and
// that small ones never wait.
func TestBodyBudget(t *testing.T) {
	const large = 8 * small
	b := NewBodies(large, MinTotal(large), 1) // room for one large body
	url, held, free := bodyServer(t, b)
	until := func(what string, done func() bool) {
		t.Helper()
		for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatal(what)
			}
		}
	}
	answers := make(chan string, 2)
	send := func() {
		status, answer, _ := sendBody(url+"/hold", false, large)
		answers <- fmt.Sprint(status, " ", answer)
	}
	go send()
	until("the first body does not come in", func() bool { return held.Load() == 1 })
	go send()
	until("the second body does not wait", func() bool { return b.Waiting() == 1 })
	if status, answer, header := sendBody(url+"/length", false, large); status != 503 || header.Get("Retry-After") != "1" {
		t.Errorf("a third large body: status %d, %s", status, answer)
	}
	for _, n := range []int{0, 1, small / 2} {
		if status, answer, _ := sendBody(url+"/length", false, n); status != 200 || answer != fmt.Sprint(n) {
			t.Errorf("a small body: status %d, %s", status, answer)
		}
	}
	if n := b.Held(); n > MinTotal(large) {
		t.Errorf("%d bytes are held", n)
	}
	free()
	for range 2 {
		if got := <-answers; got != fmt.Sprintf("200 %d", large) {
			t.Error(got)
		}
	}
}

// TestSlowBody checks that a body that arrives too slowly is refused, before and after its memory
// is reserved.
func TestSlowBody(t *testing.T) {
	const limit = 2 * small
	b := NewBodies(limit, MinTotal(limit), 1)
	b.grace = 100 * time.Millisecond
	url, _, _ := bodyServer(t, b)
	for _, sent := range []int{0, 1, small, small + 1} {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /length HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, limit, strings.Repeat(" ", sent))
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, " 408 ") {
			t.Errorf("after %d bytes: %q, %v", sent, answer, err)
		}
	}
}
