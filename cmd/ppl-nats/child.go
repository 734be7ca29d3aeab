package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is a process that runs fits, one after another. If it crashes or runs out of memory, other
// processes continue.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   *tail
	models map[string]bool // that it has
}

// tail keeps the last 2000 bytes of a process's standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(p), nil
}

func startChild(program string) (*child, error) {
	c := &child{cmd: exec.Command(program, "task", "-"), said: &tail{}, models: map[string]bool{}}
	c.cmd.Stderr = c.said
	apart(c.cmd)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = buffered(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", program, err)
	}
	return c, nil
}

// do sends a unit to the process and returns its result. On failure, the error contains the last
// output of the process.
func (c *child) do(unit *frame, model func(digest string) ([]byte, error)) ([]byte, error) {
	result, err := c.exchange(unit, model)
	if err == nil {
		return result, nil
	}
	if gone := (*modelGone)(nil); errors.As(err, &gone) {
		return nil, err
	}
	c.in.Close()
	ended := c.cmd.Wait()
	text := "its process has ended"
	if ended != nil {
		text += " (" + ended.Error() + ")"
	}
	c.said.mu.Lock()
	defer c.said.mu.Unlock()
	if said := strings.TrimSpace(string(c.said.text)); said != "" {
		text += ": " + said
	}
	return nil, errors.New(text)
}

// modelGone is the error for a model that is not on the server.
type modelGone struct{ error }

func (c *child) exchange(unit *frame, model func(digest string) ([]byte, error)) ([]byte, error) {
	if spec := unit.header.Spec; spec != nil {
		for _, digest := range []string{spec.Model, spec.Quantities} {
			if digest == "" || c.models[digest] {
				continue
			}
			text, err := model(digest)
			if err != nil {
				return nil, &modelGone{err}
			}
			if _, err := c.in.Write(newFrame(header{Type: "model", Digest: digest}, text)); err != nil {
				return nil, err
			}
			c.models[digest] = true
		}
	}
	if _, err := c.in.Write(unit.raw); err != nil {
		return nil, err
	}
	f, err := readFrame(c.out)
	if err != nil {
		return nil, err
	}
	if f.header.Type != "result" || f.header.Key != unit.header.Key {
		c.cmd.Process.Kill()
		return nil, errFrame
	}
	return f.raw, nil
}

// stop ends the process.
func (c *child) stop() {
	c.in.Close()
	killer := time.AfterFunc(time.Second, func() { c.cmd.Process.Kill() })
	c.cmd.Wait()
	killer.Stop()
}

func bytesReader(b []byte) io.Reader { return bytes.NewReader(b) }
