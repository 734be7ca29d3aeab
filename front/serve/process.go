package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// process is a process that runs one job, seen from the server.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // closing it ends the process
	out    *bufio.Reader
	stderr head
	memory int64           // its limit, in bytes
	ctx    context.Context // whose end kills it
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// errTime is the cause for killing a process that exceeds its time limit.
var errTime = errors.New("out of time")

// killAfter is the difference between the server's time limit and the process's own.
const killAfter = 2 * time.Second

// starter starts processes from a thread that lives as long as the program. A process that dies
// with its server actually dies with the thread that has started it.
type starter struct {
	once sync.Once
	work chan func()
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.once.Do(func() {
		s.work = make(chan func())
		go func() {
			runtime.LockOSThread()
			for f := range s.work {
				f()
			}
		}()
	})
	bind(cmd)
	done := make(chan error, 1)
	s.work <- func() { done <- cmd.Start() }
	return <-done
}

// start starts a process and sends it its job. The process is killed when the context is done or
// the time limit is exceeded.
func (s *Server) start(ctx context.Context, j *job) (*process, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &process{ctx: ctx, cancel: cancel, memory: j.Limits.Memory}
	p.cmd = s.o.Command(ctx)
	p.cmd.WaitDelay = time.Second
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		cancel(nil)
		return nil, err
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = s.starter.start(p.cmd)
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	p.out = bufio.NewReader(stdout)
	p.timer = time.AfterFunc(time.Duration(j.Limits.Seconds)*time.Second+killAfter, func() { cancel(errTime) })
	// If the process ends before it reads the job, end reports its error.
	_ = j.write(stdin)
	return p, nil
}

// Probe starts a process to find out which walls the system supports. Processes that are started
// later must have them, or end. Call it before answering requests.
func (s *Server) Probe(ctx context.Context) (Walls, error) {
	p, err := s.start(ctx, &job{Kind: kindWalls, Limits: s.o.Limits})
	if err != nil {
		return Walls{}, err
	}
	var w Walls
	event, length, err := readHead(p.out, maxSmall)
	text := make([]byte, max(0, length))
	if err == nil {
		_, err = io.ReadFull(p.out, text)
	}
	p.end()
	if err == nil && event != eventResult {
		err = fmt.Errorf("it answered %s", text)
	}
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return Walls{}, fmt.Errorf("a worker process does not start: %w\n%s", err, p.stderr.String())
	}
	s.walls = w
	return w, nil
}

// done stops the time limit of the process, because its answer has begun.
func (p *process) done() { p.timer.Stop() }

// end ends the process, if it is still running, and returns its resource usage.
func (p *process) end() *os.ProcessState {
	p.timer.Stop()
	p.stdin.Close()
	p.cancel(nil)
	_ = p.cmd.Wait() // an error is expected if it was killed
	return p.cmd.ProcessState
}

// failure reads the payload of a failure from an untrusted process.
func (p *process) failure(length int64) *Failure {
	text := make([]byte, length)
	var f struct {
		Failure
		Messages json.RawMessage `json:"messages"`
	}
	if _, err := io.ReadFull(p.out, text); err != nil {
		return lost
	}
	if json.Unmarshal(text, &f) != nil {
		return &Failure{Kind: "internal"}
	}
	if len(f.Messages) > 0 {
		f.Failure.Messages = f.Messages
	}
	return &f.Failure
}

var lost = &Failure{Kind: "internal", Message: "the process ended without an answer; see the log of the server"}

// lower records the limits that a process has lowered.
func (p *process) lower(length int64) error {
	text := make([]byte, length)
	if _, err := io.ReadFull(p.out, text); err != nil {
		return err
	}
	lower := Limits{Memory: p.memory}
	if err := json.Unmarshal(text, &lower); err != nil {
		return err
	}
	p.memory = min(p.memory, lower.Memory)
	return nil
}

// silence returns the failure of a process that ended without an answer, given its state.
func (p *process) silence(state *os.ProcessState) *Failure {
	stderr := p.stderr.String()
	switch {
	case errors.Is(context.Cause(p.ctx), errTime) || state != nil && strings.Contains(state.String(), "CPU time limit"):
		return Passed("seconds", "the work takes longer than its limit")
	case strings.Contains(stderr, "stack exceeds"):
		return Passed("memory", "recursive functions are nested too deeply")
	case slices.ContainsFunc(refused, func(words string) bool { return strings.Contains(stderr, words) }):
		return Passed("memory", "the work needs more memory than its limit")
	case state != nil && state.String() == "signal: killed":
		// The kernel has killed it, since the machine was short of memory.
		return Passed("memory", "the system ended the process, probably because the machine has too little memory")
	case MemoryEnforced && state != nil && state.ExitCode() != 0 && !strings.Contains(stderr, "panic: ") && peak(state) > p.memory/2:
		// There may be more such words. Memory that is not resident also counts against the limit,
		// above all the stacks of threads.
		return Passed("memory", "the process aborted, probably because the work needs more memory than its limit")
	}
	return lost
}

// refused are the words with which Go's runtime and the C library abort where the system refuses
// memory.
var refused = []string{
	"out of memory", "cannot allocate memory", "errno=12",
	"pthread_create failed: Resource temporarily unavailable", // memory for the thread's stack
	// The collector reads the nil pointer to a queue that could not be allocated. Goroutine 0 is
	// the runtime itself; the compiler's machine code runs on others.
	" addr=0x0\n\ngoroutine 0 ",
}

// head keeps the beginning of what is written to it. Go's runtime reports there why it aborts.
type head struct {
	mu   sync.Mutex
	text []byte
}

const maxHead = 8 << 10

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), maxHead-len(h.text))]...)
	return len(b), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
