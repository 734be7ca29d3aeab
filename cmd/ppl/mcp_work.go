package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/serve"
)

// This file: the work that the processes of ppl mcp do: a command of this program, whose models,
// data and fits are in the request.

// commandKind is the kind of this work. ppl serve does not offer it.
const commandKind = "command"

// commandRequest is a command line with what it reads. Only this program makes such requests.
type commandRequest struct {
	Args   []string          `json:"args"`
	Then   []string          `json:"then"`  // a command line whose output is the text of the answer
	Texts  map[string][]byte `json:"texts"` // models and data, by the names in Args
	Fits   map[string][]byte `json:"fits"`  // archives, by the names in Args
	Keep   string            `json:"keep"`  // name of the fit that is made
	Limits map[string]int64  `json:"limits"`
}

// commandAnswer is the result of a command.
type commandAnswer struct {
	Output string   `json:"output"` // what the command printed
	Text   string   `json:"text"`   // what the second command printed
	Notes  []string `json:"notes"`  // what the first printed on standard error, by line
	Fit    []byte   `json:"fit"`    // archive of the fit that was made
}

func commandWork(ctx context.Context, c *serve.Call) (any, error) {
	var r commandRequest
	if err := json.Unmarshal(c.Body, &r); err != nil {
		return nil, err
	}
	c.Body = nil // the memory is for the work
	if err := c.Lower(r.Limits); err != nil {
		return nil, err
	}
	h := &held{fits: map[string]*fit.Fit{}, texts: map[string]string{}, keep: r.Keep, draws: c.Limits.Draws}
	for name, text := range r.Texts {
		h.texts[name] = string(text)
	}
	for name, archive := range r.Fits {
		f, err := fit.ReadOptions{Memory: heldMemory(c)}.Archive(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			return nil, failed(err)
		}
		h.fits[name] = f
	}
	notes := &noteLines{call: c}
	out, err := h.run(ctx, c, r.Args, notes)
	if code, told := errors.AsType[exitCode](err); told && code != exitFindings {
		return nil, &serve.Failure{Kind: "model", Message: strings.Join(notes.lines, "\n")}
	} else if err != nil && !told {
		return nil, failed(err)
	}
	answer := commandAnswer{Output: out, Notes: notes.lines}
	if h.made != nil {
		var archive bytes.Buffer
		if _, err := h.made.WriteTo(&archive); err != nil {
			return nil, failed(err)
		}
		answer.Fit, h.fits[h.keep] = archive.Bytes(), h.made
	}
	if len(r.Then) > 0 {
		if answer.Text, err = h.run(ctx, c, r.Then, &noteLines{call: c}); err != nil {
			answer.Text = "" // the first result is enough
		}
	}
	return answer, nil
}

// heldMemory is the memory for data and evaluations; the other half is for the garbage collector.
func heldMemory(c *serve.Call) int64 { return c.Limits.Memory / 2 }

// run runs a command, and returns what it prints.
func (h *held) run(ctx context.Context, c *serve.Call, args []string, notes *noteLines) (string, error) {
	var out bytes.Buffer
	root := rootCommand(&checkedWriter{Writer: &out})
	root.SetErr(notes)
	cmd, _, err := root.Find(args)
	if err != nil {
		return "", err
	}
	// Flags come before the names of models and fits, which follow "--".
	limited := []string{args[0], "--no-config"}
	for _, f := range []struct {
		name  string
		value int64
	}{{"memory", heldMemory(c)}, {"statements", c.Limits.Statements}} {
		if cmd.Flags().Lookup(f.name) != nil {
			limited = append(limited, fmt.Sprintf("--%s=%d", f.name, f.value))
		}
	}
	root.SetArgs(slices.Concat(limited, args[1:]))
	err = root.ExecuteContext(context.WithValue(ctx, heldKey{}, h))
	notes.end()
	return out.String(), err
}

// noteLines passes the progress among the lines that it receives to the client, and keeps the
// others, up to the limit of prints.
type noteLines struct {
	call  *serve.Call
	lines []string
	left  []byte
}

// maxNoteBytes is the largest size of the lines that are kept, in bytes.
const maxNoteBytes = 64 << 10

func (n *noteLines) Write(p []byte) (int, error) {
	n.left = append(n.left, p...)
	for {
		line, rest, whole := bytes.Cut(n.left, []byte("\n"))
		if !whole {
			break
		}
		n.line(line)
		n.left = rest
	}
	if len(n.left) > maxNoteBytes {
		n.end()
	}
	return len(p), nil
}

func (n *noteLines) end() {
	if len(n.left) > 0 {
		n.line(n.left)
	}
	n.left = nil
}

func (n *noteLines) line(text []byte) {
	if bytes.HasPrefix(text, []byte(`{"`+versionKey)) {
		var note studyNote
		d := json.NewDecoder(bytes.NewReader(text))
		if d.Decode(&note) != nil || note.Note == "" {
			_ = n.call.Progress(json.RawMessage(text))
			return
		}
		text = []byte(note.Note)
	}
	size := 0
	for _, line := range n.lines {
		size += len(line)
	}
	if int64(len(n.lines)) < n.call.Limits.Prints+maxMessages && size+len(text) < maxNoteBytes {
		n.lines = append(n.lines, strings.ToValidUTF8(string(text), "�"))
	}
}

var _ io.Writer = (*noteLines)(nil)
