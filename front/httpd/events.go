package httpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// WriteTimeout is the time limit for sending a part of an answer.
const WriteTimeout = 30 * time.Second

// Stream sends server-sent events, which browsers read with EventSource:
// https://html.spec.whatwg.org/multipage/server-sent-events.html.
type Stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewStream starts an answer that consists of events.
func NewStream(w http.ResponseWriter) *Stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return &Stream{w, http.NewResponseController(w)}
}

// Send sends an event with n bytes from r as data: JSON without line breaks.
func (s *Stream) Send(event string, r io.Reader, n int64) error {
	s.control.SetWriteDeadline(time.Now().Add(WriteTimeout))
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: ", event); err != nil {
		return err
	}
	if _, err := io.CopyN(s.w, r, n); err != nil {
		return err
	}
	if _, err := io.WriteString(s.w, "\n\n"); err != nil {
		return err
	}
	return s.control.Flush()
}

// SendJSON sends an event with v as JSON.
func (s *Stream) SendJSON(event string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.Send(event, bytes.NewReader(text), int64(len(text)))
}
