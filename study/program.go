package study

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Program is an engine that is a separate program, such as ppl-nats. It reads units from its
// standard input and writes results to its standard output, as frames. The frames that it reads
// have the types
//
//	model  a model: digest, and its text as payload; before the units that need it
//	unit   a unit
//	ack    the result of a key is in the journal of the study
//	end    there are no more units
//
// and those that it writes
//
//	result a result
//	note   a text for people
//	done   all units have results, which are acknowledged
type Program struct {
	Command []string // the program and its arguments, to which --study NAME is added
	Window  int      // maximum number of units without a result; 0: 4000
}

// message is the header of a frame that is neither unit nor result.
type message struct {
	Type   string `json:"type"`
	Key    string `json:"key,omitempty"`
	Digest string `json:"digest,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Run implements [Engine].
func (p Program) Run(ctx context.Context, job *Job) (err error) {
	defer infer.Recover(&err)
	folder, err := filepath.Abs(job.Folder)
	if err != nil {
		return err
	}
	if p.Window <= 0 {
		p.Window = 4000
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The name comes from the folder, so that a resumed study finds the results that have come
	// meanwhile.
	cmd := exec.CommandContext(ctx, p.Command[0], append(p.Command[1:len(p.Command):len(p.Command)], "--study", digest([]byte(folder))[:16])...)
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	told := &notes{note: job.Note}
	cmd.Stderr = told
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the engine needs the program %s, which is not on the PATH", p.Command[0])
	} else if err != nil {
		return err
	}
	w := &frameWriter{w: bufio.NewWriterSize(in, 1<<16)}
	window := &window{room: make(chan struct{}, p.Window), keys: map[string]bool{}}
	feeding := goroutines.Group{Failed: func() { cancel(errPanic) }}
	feeding.Go(func() {
		defer in.Close()
		if err := p.feed(ctx, job, w, window); err != nil {
			cancel(err)
		}
		<-ctx.Done() // the input is open as long as results are acknowledged
	})
	finished, err := p.take(job, w, window, bufio.NewReaderSize(out, 1<<16))
	if err != nil {
		cancel(err)
	} else if !finished {
		// Its last note says why it ended.
		cancel(fmt.Errorf("%s has ended before the study: %s", filepath.Base(p.Command[0]), told.last()))
	}
	cause := context.Cause(ctx)
	cancel(nil)
	feeding.Wait()
	ended := cmd.Wait()
	if cause != nil {
		return cause
	}
	if ended != nil && !finished {
		return ended
	}
	return nil
}

// feed writes models and units to the program.
func (p Program) feed(ctx context.Context, job *Job, w *frameWriter, window *window) error {
	for name, blob := range job.Models {
		if err := w.write(message{Type: "model", Digest: name}, blob); err != nil {
			return err
		}
	}
	for u := range job.Units {
		select {
		case window.room <- struct{}{}:
		default:
			if err := w.flush(); err != nil {
				return err
			}
			select {
			case window.room <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		}
		window.add(u.Key)
		frame, err := appendUnit(nil, u)
		if err == nil {
			err = w.raw(frame)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(w.write(message{Type: "end"}, nil), w.flush())
}

// take reads results, and reports whether all are there.
func (p Program) take(job *Job, w *frameWriter, window *window, r *bufio.Reader) (bool, error) {
	for {
		header, payload, err := readFrame(r)
		if err != nil {
			return false, nil // the program has ended
		}
		var m message
		if err := json.Unmarshal(header, &m); err != nil {
			return false, err
		}
		switch m.Type {
		case "note":
			job.Note(m.Text)
		case "done":
			return true, nil
		case "result":
			result, err := decodeResult(header, payload)
			if err != nil {
				return false, err
			}
			if err := job.Done(result); err != nil {
				return false, err
			}
			if err := errors.Join(w.write(message{Type: "ack", Key: result.Key}, nil), w.flushIf(r.Buffered() == 0)); err != nil {
				return false, nil
			}
			window.remove(result.Key)
		}
	}
}

// window limits the units that were sent and have no result.
type window struct {
	room chan struct{} // has one element for each unit that was sent

	mu   sync.Mutex
	keys map[string]bool
}

func (w *window) add(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys[key] = true
}

// remove records that a unit has a result. It may not be the first, or be from an earlier run.
func (w *window) remove(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keys[key] {
		delete(w.keys, key)
		<-w.room
	}
}

// frameWriter writes frames from several goroutines.
type frameWriter struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (w *frameWriter) write(header any, payload []byte) error {
	frame, err := appendFrame(nil, header, payload)
	if err != nil {
		return err
	}
	return w.raw(frame)
}

func (w *frameWriter) raw(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(frame)
	return err
}

func (w *frameWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Flush()
}

func (w *frameWriter) flushIf(yes bool) error {
	if !yes {
		return nil
	}
	return w.flush()
}

// notes passes on the lines that a program prints.
type notes struct {
	note func(string)
	mu   sync.Mutex
	part []byte
	text string
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.part = append(n.part, p...)
	for {
		line, rest, ok := bytes.Cut(n.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		n.text, n.part = string(line), bytes.Clone(rest)
		n.note(n.text)
	}
}

func (n *notes) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.TrimSpace(n.text)
}

// Serve reads units as frames, runs them one after another, and writes their results as frames,
// until in ends. Worker processes that know nothing about models use it.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	models := map[string][]byte{}
	w := &Worker{Model: blobOf(models)}
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		header, payload, err := readFrame(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(header, &m); err != nil {
			return err
		}
		switch m.Type {
		case "model":
			models[m.Digest] = payload
		case "unit":
			u, err := decodeUnit(header, payload)
			if err != nil {
				return err
			}
			result := w.Do(ctx, u)
			if result == nil {
				return context.Cause(ctx)
			}
			frame, err := appendResult(nil, result)
			if err != nil {
				return err
			}
			if _, err := out.Write(frame); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a record of the type %q, which is not known", m.Type)
		}
	}
}
