// Command serveload measures ppl serve under load: latencies, refusals and memory. Its figures are
// in doc/evidence/front-ends.md.
//
//	go build -o ppl ./cmd/ppl
//	go run ./internal/cmd/serveload --ppl ./ppl [--memory BYTES] [SCENARIO…]
//
// With --memory, the server and its processes run in a memory cgroup of that size, which requires
// root on Linux. Each scenario gets a new server, with its default options unless --args specifies
// others.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const token = "the token of a measurement"

// scenario is a load, with the measurements under it.
type scenario struct {
	name, what string
	run        func(*server)
}

var scenarios = []scenario{
	{"large", "66 requests of 16 MB at once", large},
	{"slow", "70 bodies that come slowly, then a short run", slow},
	{"behind", "a short check behind six long runs", behind},
	{"steady", "2,000 small requests, 50 at a time: checks, densities and runs", steady},
}

func main() {
	ppl := flag.String("ppl", "./ppl", "the program")
	args := flag.String("args", "", "more options of ppl serve")
	memory := flag.Int64("memory", 0, "limit of a memory cgroup, in bytes; 0: none")
	flag.Parse()
	for _, s := range scenarios {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), s.name) {
			continue
		}
		fmt.Printf("%s: %s\n", s.name, s.what)
		v, err := start(*ppl, strings.Fields(*args), *memory)
		if err != nil {
			log.Fatal(err)
		}
		s.run(v)
		v.stop()
	}
}

// server is a running ppl serve.
type server struct {
	cmd    *exec.Cmd
	url    string
	group  *cgroup
	ended  chan error
	peak   int64 // of the server's own resident memory
	client *http.Client
}

func start(ppl string, args []string, memory int64) (*server, error) {
	program, err := filepath.Abs(ppl)
	if err != nil {
		return nil, err
	}
	v := &server{ended: make(chan error, 1), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	line := append([]string{program, "serve", "--quiet", "--listen", "127.0.0.1:0"}, args...)
	if memory > 0 {
		if v.group, err = newCgroup(memory); err != nil {
			return nil, err
		}
		line = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(v.group.dir, "cgroup.procs")}, line...)
	}
	v.cmd = exec.Command(line[0], line[1:]...)
	v.cmd.Env = append(os.Environ(), "PPL_TOKEN="+token)
	stderr, err := v.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := v.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stderr)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the server does not start: %w", err)
		}
		if url, ok := strings.CutPrefix(text, "Listening on "); ok {
			v.url = strings.TrimSpace(url)
			break
		}
	}
	go func() {
		io.Copy(io.Discard, lines)
		v.ended <- v.cmd.Wait()
	}()
	return v, nil
}

// stop ends the server and prints its memory.
func (v *server) stop() {
	v.peak = status(v.cmd.Process.Pid, "VmHWM:")
	_ = v.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-v.ended:
		if v.cmd.ProcessState.Success() {
			fmt.Println("  the server ended in order")
		} else {
			fmt.Println("  the server ended:", err)
		}
	case <-time.After(30 * time.Second):
		fmt.Println("  the server did not end within 30 s")
		_ = v.cmd.Process.Kill()
		<-v.ended
	}
	fmt.Printf("  largest resident memory of the server itself: %d MiB\n", v.peak>>20)
	if v.group != nil {
		peak, kills := v.group.figures()
		fmt.Printf("  largest memory with its processes: %d MiB; killed for want of memory: %d\n", peak>>20, kills)
		v.group.remove()
	}
}

// status returns a figure of /proc/PID/status, in bytes.
func status(pid int, key string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// cgroup is a memory cgroup, of version 1 or 2.
type cgroup struct {
	dir                string
	limit, peak, event string // names of its files
}

func newCgroup(memory int64) (*cgroup, error) {
	c := &cgroup{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"}
	if _, err := os.Stat(c.dir); err != nil {
		c = &cgroup{"/sys/fs/cgroup", "memory.max", "memory.peak", "memory.events"}
	}
	c.dir = filepath.Join(c.dir, fmt.Sprintf("serveload-%d", os.Getpid()))
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make a memory cgroup, which needs root: %w", err)
	}
	return c, os.WriteFile(filepath.Join(c.dir, c.limit), []byte(strconv.FormatInt(memory, 10)), 0o644)
}

func (c *cgroup) figures() (peak, kills int64) {
	text, _ := os.ReadFile(filepath.Join(c.dir, c.peak))
	peak, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	events, _ := os.ReadFile(filepath.Join(c.dir, c.event))
	for line := range strings.Lines(string(events)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			kills, _ = strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return peak, kills
}

func (c *cgroup) remove() {
	for range 100 { // processes that were killed leave it a moment later
		if os.Remove(c.dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// post sends a request and returns the status of its answer; 0: no answer.
func (v *server) post(ctx context.Context, path string, body []byte) (int, time.Duration, string) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.url+path, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	got, err := v.client.Do(r)
	if err != nil {
		return 0, time.Since(began), err.Error()
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return 0, time.Since(began), err.Error()
	}
	return got.StatusCode, time.Since(began), string(text)
}

// tally counts answers by status, and records their durations.
type tally struct {
	mu     sync.Mutex
	counts map[int]int
	took   map[int][]time.Duration
	first  map[int]string
}

func (t *tally) add(status int, took time.Duration, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts, t.took, t.first = map[int]int{}, map[int][]time.Duration{}, map[int]string{}
	}
	t.counts[status]++
	t.took[status] = append(t.took[status], took)
	if status != 200 && t.first[status] == "" {
		t.first[status] = text
	}
}

func (t *tally) print(what string) {
	var statuses []int
	for s := range t.counts {
		statuses = append(statuses, s)
	}
	slices.Sort(statuses)
	for _, s := range statuses {
		d := t.took[s]
		slices.Sort(d)
		at := func(q float64) time.Duration { return d[int(q*float64(len(d)-1))].Round(time.Millisecond) }
		fmt.Printf("  %s: status %d: %d, p50 %v, p99 %v, longest %v %.100s\n", what, s, len(d), at(0.5), at(0.99), at(1), strings.TrimSpace(t.first[s]))
	}
}

const (
	check    = `{"model": "parameters { real x; } model { x ~ normal(0, 1); }"}`
	shortRun = `{"model": "parameters { real x; } model { x ~ normal(0, 1); }", "chains": 1, "warmup": 100, "draws": 100, "seed": 1}`
	density  = `{"model": "parameters { real x; } model { x ~ normal(0, 1); }", "points": [[0], [1]]}`
	longRun  = `{"model": "transformed data { matrix[200, 200] m = identity_matrix(200); while (1) { m = m * m; } } parameters { real x; } model { x ~ normal(0, 1); }", "limits": {"seconds": 8}}`
)

// largeBody returns a request for a run with about 16 MB of data.
func largeBody() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model": "data { int n; vector[n] y; } parameters { real x; } model { x ~ normal(0, 1); }", "chains": 1, "warmup": 10, "draws": 10, "data": {"n": 1600000, "y": [`)
	for i := range 1600000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%.6f", float64(i%1000)/7+1)
	}
	b.WriteString("]}}")
	return b.Bytes()
}

func large(v *server) {
	body := largeBody()
	fmt.Printf("  a body has %.1f MB\n", float64(len(body))/1e6)
	var t tally
	var all sync.WaitGroup
	for range 66 {
		all.Go(func() { t.add(v.post(context.Background(), "/v1/run", body)) })
	}
	all.Wait()
	t.print("runs")
}

// slowBody opens a request and never sends the rest of its body.
func (v *server) slowBody(path string) net.Conn {
	address := strings.TrimPrefix(v.url, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	// First send more than a server may read ahead, and then a byte now and then.
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\n%s", path, address, token, strings.Repeat(" ", 100<<10))
	return c
}

func slow(v *server) {
	var list []net.Conn
	for range 70 {
		list = append(list, v.slowBody("/v1/run"))
	}
	done := make(chan bool)
	go func() {
		for {
			for _, c := range list {
				_, _ = c.Write([]byte(" "))
			}
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	time.Sleep(time.Second)
	began := time.Now()
	var t tally
	for t.counts[200] < 10 && time.Since(began) < 90*time.Second {
		status, took, text := v.post(context.Background(), "/v1/run", []byte(shortRun))
		t.add(status, took, text)
		if status != 200 {
			time.Sleep(time.Second)
		} else if t.counts[200] == 1 {
			fmt.Printf("  the first answer after %v\n", time.Since(began).Round(time.Millisecond))
		}
	}
	t.print("short runs")
	close(done)
	for _, c := range list {
		c.Close()
	}
}

func behind(v *server) {
	ctx, cancel := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	var long tally
	for range 6 {
		runs.Go(func() { long.add(v.post(ctx, "/v1/run", []byte(longRun))) })
	}
	time.Sleep(500 * time.Millisecond)
	var t tally
	for range 20 {
		t.add(v.post(context.Background(), "/v1/check", []byte(check)))
	}
	t.print("checks, one after another")
	cancel()
	runs.Wait()
}

func steady(v *server) {
	bodies := []struct{ path, body string }{{"/v1/check", check}, {"/v1/logdensity", density}, {"/v1/run", shortRun}}
	tallies := make([]tally, len(bodies))
	work := make(chan int)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for i := range work {
				b := bodies[i%len(bodies)]
				tallies[i%len(bodies)].add(v.post(context.Background(), b.path, []byte(b.body)))
			}
		})
	}
	began := time.Now()
	const requests = 2000
	for i := range requests {
		work <- i
	}
	close(work)
	all.Wait()
	fmt.Printf("  %.0f requests a second\n", requests/time.Since(began).Seconds())
	for i, b := range bodies {
		tallies[i].print(b.path)
	}
}
