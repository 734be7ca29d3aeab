package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// Handler does one kind of work, in a separate process. Its result is sent as JSON. An error that
// is not a *[Failure] gets the kind internal.
type Handler func(ctx context.Context, c *Call) (any, error)

// Call is the work of one process.
type Call struct {
	Body   []byte // the request
	Stream bool   // events are sent to the client; otherwise they are dropped
	Limits Limits // the limits of the request; see [Call.Lower]

	walls Walls

	mu    sync.Mutex
	out   io.Writer
	ended bool
	timer *time.Timer
	began time.Time
}

// exitWalls is the exit code of a process whose walls could not be set.
const exitWalls = 3

// Work is the main function of a process: it reads its job from stdin, runs the handler, and writes
// the answer to stdout. It sets the walls of the process, and ends the process when stdin ends, so
// the program can do nothing else. It returns the exit code.
func Work(stdin io.Reader, stdout, stderr io.Writer, handlers map[string]Handler) int {
	// Ctrl-C in a terminal also reaches the server's processes, but the server decides when they
	// end.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	in := bufio.NewReader(stdin)
	c := &Call{out: stdout, began: time.Now()}
	// The head of the job comes from the server; the rest is untrusted input.
	head, err := in.ReadBytes('\n')
	var j job
	if err == nil {
		err = json.Unmarshal(head, &j)
	}
	if err != nil {
		fmt.Fprintln(stderr, "only ppl serve starts this command:", err)
		return 2
	}
	walls, err := wallIn(j.Limits)
	if err == nil && !walls.within(j.Walls) {
		err = fmt.Errorf("the system confines the process by %v, but the server was confined by %v", walls, j.Walls)
	}
	if err != nil {
		fmt.Fprintln(stderr, "cannot confine a process:", err)
		return exitWalls
	}
	c.Limits, c.Stream, c.walls = j.Limits, j.Stream, walls
	c.timer = time.AfterFunc(time.Hour, func() {
		c.end(eventFailure, Passed("seconds", "the work takes longer than %d s", c.Limits.Seconds))
		os.Exit(0) // whatever the handler is doing
	})
	c.setTimer()
	c.Body = make([]byte, j.Length)
	if _, err := io.ReadFull(in, c.Body); err != nil {
		return 2
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		in.ReadByte() // nothing more is sent, so reading returns when the pipe closes
		cancel()
		os.Exit(0)
	}()
	var result any = walls
	if j.Kind != kindWalls {
		result, err = c.do(ctx, handlers[j.Kind], stderr)
	}
	if err == nil {
		err = c.end(eventResult, result)
	}
	if err != nil {
		failure, ok := errors.AsType[*Failure](err)
		if !ok {
			fmt.Fprintln(stderr, err)
			failure = &Failure{Kind: "internal", Message: err.Error()}
		}
		if err := c.end(eventFailure, failure); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	return 0
}

// kindWalls is the kind of work that only sets the walls, and answers with them.
const kindWalls = "walls"

// wallIn sets the limits and walls of this process.
func wallIn(l Limits) (Walls, error) {
	w, err := confine() // which opens files
	if err == nil {
		err = setLimits(l)
	}
	if err == nil {
		err = w.close(closing)
	}
	return w, err
}

// do calls the handler. A panic becomes an error of one line. Its stack goes only to stderr, which
// is the server's log.
func (c *Call) do(ctx context.Context, h Handler, stderr io.Writer) (result any, err error) {
	if h == nil {
		return nil, errors.New("no work has this name")
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "%s", debug.Stack())
			result, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return h(ctx, c)
}

// Lower lowers the limits to those of the request, and closes the walls of the process. A handler
// must call it once, after reading the request and before anything else.
func (c *Call) Lower(by map[string]int64) error {
	lower, err := c.Limits.Lowered(by)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.Limits = lower
	c.mu.Unlock()
	c.setTimer()
	if err := setLimits(lower); err != nil {
		return err
	}
	if err := c.send(eventLimits, lower, false); err != nil {
		return err
	}
	return c.walls.close(sealing)
}

// setTimer sets the timer that ends the process at its time limit.
func (c *Call) setTimer() {
	c.timer.Reset(time.Until(c.began.Add(time.Duration(c.Limits.Seconds) * time.Second)))
}

// Progress sends the progress of the work, if the client asked for it.
func (c *Call) Progress(v any) error { return c.event(eventProgress, v) }

// Print sends a line that the model has printed, if the client asked for it.
func (c *Call) Print(v any) error { return c.event(eventPrint, v) }

func (c *Call) event(event string, v any) error {
	if !c.Stream {
		return nil
	}
	return c.send(event, v, false)
}

// end sends the last event. Later events are dropped.
func (c *Call) end(event string, v any) error { return c.send(event, v, true) }

func (c *Call) send(event string, v any, last bool) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	c.ended = last
	return writeFrame(c.out, event, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
