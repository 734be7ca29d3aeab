package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

// Emit passes an event of a running request to the page, such as progress.
type Emit func(event string, body []byte)

// Engine answers the requests of a page. Only one goroutine at a time may use it.
type Engine struct {
	text text  // the text in the editor
	run  *run  // the run whose chains are being collected
	last *kept // the last report
}

// New makes an engine.
func New() *Engine { return &Engine{} }

// handler answers a request.
type handler func(*Engine, context.Context, []byte, Emit) ([]byte, error)

// handlers is the table of requests.
func handlers() map[string]handler {
	return map[string]handler{
		"text":      asked((*Engine).takeText),
		"complete":  asked((*Engine).complete),
		"describe":  asked((*Engine).describe),
		"hover":     asked((*Engine).hover),
		"signature": asked((*Engine).signature),
		"format":    asked((*Engine).format),
		"explain":   asked((*Engine).explain),
		"samplers":  asked((*Engine).samplers),
		"data":      asked((*Engine).data),
		"generate":  asked((*Engine).generate),
		"chain":     asked((*Engine).chain),
		"gather":    asked((*Engine).gather),
		"add":       (*Engine).add,
		"sofar":     asked((*Engine).sofar),
		"report":    asked((*Engine).report),
		"quantity":  asked((*Engine).quantity),
		"columns":   asked((*Engine).columns),
		"column":    (*Engine).column,
		"page":      (*Engine).page,
		"folder":    (*Engine).folder,
	}
}

// call is a running request.
type call struct {
	context.Context
	emit Emit
}

// emitJSON emits a value as JSON.
func (c *call) emitJSON(event string, v any) {
	if text, err := json.Marshal(v); err == nil {
		c.emit(event, text)
	}
}

// asked makes a handler from a function that takes a request and returns an answer.
func asked[Request, Answer any](f func(*Engine, *call, *Request) (Answer, error)) handler {
	return func(e *Engine, ctx context.Context, body []byte, emit Emit) ([]byte, error) {
		r := new(Request)
		if len(body) > 0 {
			if err := json.Unmarshal(body, r); err != nil {
				return nil, fmt.Errorf("the request is malformed: %w", err)
			}
		}
		answer, err := f(e, &call{ctx, emit}, r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}
}

// Do answers a request of a kind. Encode its error by [Failure].
func (e *Engine) Do(ctx context.Context, kind string, body []byte, emit Emit) (answer []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			failed := infer.NewPanicError(r)
			slog.Error("a request failed because of an error in ppl", "kind", kind, "error", failed, "stack", string(failed.Stack))
			answer, err = nil, fmt.Errorf("this is an error in ppl: %w", failed)
		}
	}()
	h, ok := handlers()[kind]
	if !ok {
		return nil, fmt.Errorf("no request is called %q", kind)
	}
	return h(e, ctx, body, emit)
}

// failure describes an error to the page.
type failure struct {
	Message  string       `json:"message"`
	Text     string       `json:"text,omitempty"` // the message with the lines that it is about
	Messages []diagnostic `json:"messages,omitempty"`
}

// maxMessages is the maximum number of messages in an answer.
const maxMessages = 100

// Failure encodes an error as JSON.
func Failure(err error) []byte {
	f := failure{Message: err.Error()}
	if list := model.Diagnostics(err); len(list) > 0 {
		list = list[:min(len(list), maxMessages)]
		var text bytes.Buffer
		diag.Render(&text, list, diag.Options{})
		f.Text = strings.TrimRight(text.String(), "\n")
		units := map[*source.File]*places{}
		for _, d := range list {
			f.Messages = append(f.Messages, describeDiagnostic(d, units))
		}
	}
	var limit interface{ Fix() string }
	if errors.As(err, &limit) && f.Text == "" {
		f.Text = f.Message + "\nhelp: " + limit.Fix()
	}
	text, err := json.Marshal(f)
	if err != nil {
		return []byte(`{"message":"what is wrong cannot be told"}`)
	}
	return text
}
