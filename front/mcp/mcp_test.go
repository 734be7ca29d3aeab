package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

type closable struct{ io.Writer }

func (closable) Close() error { return nil }

// broken is a writer whose reader leaves after the first message.
type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) {
	if b.n++; b.n > 1 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func slowly(ctx context.Context, tool string, _ json.RawMessage, _ func(done, total float64, message string)) (*Result, error) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if tool == "bad" {
		return nil, errors.New("bad")
	}
	return &Result{Text: []string{"done"}}, nil
}

// TestEnd checks that requests are answered whose client closes its end at once, and that a session
// without a reader ends.
func TestEnd(t *testing.T) {
	call := func(id, tool string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}` + "\n"
	}
	tool := func(name string) Tool { return Tool{Name: name, Input: json.RawMessage(`{"type":"object"}`)} }
	o := Options{Name: "test", Version: "1", Tools: []Tool{tool("good"), tool("bad")}, Call: slowly, MaxMessage: 1 << 16}
	for name, test := range map[string]struct {
		in      string
		answers int
	}{
		"nothing":         {"", 0},
		"one":             {hello, 1},
		"without newline": {strings.TrimSpace(hello + call("2", "good")), 2},
		"several":         {hello + call("2", "good") + call("3", "bad") + call(`"four"`, "good") + `{"jsonrpc":"2.0","id":5,"method":"tools/list"}` + "\n", 5},
		"unknown method":  {hello + `{"jsonrpc":"2.0","id":2,"method":"none"}` + "\n", 2},
		"same number":     {hello + call("2", "good") + call("2", "good"), 2},
		"cancelled":       {hello + call("2", "good") + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n", 2},
		"cut short":       {hello + call("2", "good") + `{"jsonrpc":`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			err := Serve(t.Context(), io.NopCloser(strings.NewReader(test.in)), closable{out}, o)
			if bad := name == "cut short"; (err != nil) != bad {
				t.Error(err)
			}
			answers := 0
			for d := json.NewDecoder(out); ; answers++ {
				var m struct{ ID json.RawMessage }
				if err := d.Decode(&m); err == io.EOF {
					break
				} else if err != nil || m.ID == nil {
					t.Fatal(err, m)
				}
			}
			if answers != test.answers {
				t.Errorf("%d answers instead of %d", answers, test.answers)
			}
		})
	}
	if err := Serve(t.Context(), io.NopCloser(strings.NewReader(hello+call("2", "good")+call("3", "good"))), closable{&broken{}}, o); err == nil {
		t.Error("no error of the writer")
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if err := Serve(ctx, io.NopCloser(strings.NewReader(hello+call("2", "good"))), closable{io.Discard}, o); err != nil {
		t.Error(err)
	}
}
