package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// Error is what is wrong with a request, as it is answered:
//
//	{"error": {"kind": "limit", "limit": "seconds", "message": "…"}}
type Error struct {
	Status int `json:"-"` // of HTTP

	Kind    string `json:"kind"`            // what sort of thing is wrong
	Limit   string `json:"limit,omitempty"` // the name of the limit that was passed, of the kind limit
	Message string `json:"message"`         // for people

	// Messages are what there is to say with places in a text, if there are any.
	Messages any `json:"messages,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Fail answers with an error.
func Fail(w http.ResponseWriter, e *Error) {
	Answer(w, e.Status, map[string]*Error{"error": e})
}

// Answer answers with v as JSON.
func Answer(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		fmt.Fprintf(&b, `{"error": {"kind": "internal", "message": %q}}`, err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b.Bytes()) // whoever asked may have gone
}

// tooLarge says that a request is longer than limit bytes.
func tooLarge(limit int64) error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Kind: "limit", Limit: "bytes", Message: fmt.Sprintf("the request has more than %d bytes", limit)}
}

// CheckJSON says by the header of a request, before anything of its body is asked for, that
// [ReadJSON] does not take it: that it is no JSON, or longer than limit bytes. The error is
// an *[Error].
func CheckJSON(r *http.Request, limit int64) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		// Browsers send other types to strangers' servers without asking them.
		return &Error{Status: http.StatusUnsupportedMediaType, Kind: "request", Message: "the body must be JSON, with the header Content-Type: application/json"}
	}
	if r.ContentLength > limit {
		if r.Header.Get("Expect") == "" { // else the client waits before it sends
			drain(r)
		}
		return tooLarge(limit)
	}
	return nil
}

// ReadJSON reads the body of a request that must be JSON by its header, of at
// most limit bytes. It does not look into it. The error is an *[Error], or that
// of the connection.
func ReadJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := CheckJSON(r, limit); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if errors.As(err, new(*http.MaxBytesError)) {
		drain(r)
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, err
	}
	// The time for reading a request is not to end it while it is worked on.
	return body, http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// maxDrained bounds what is read of a body that is not wanted.
const maxDrained = 128 << 20

// drain reads on, within the time for a request: a client that is still sending when the
// connection is closed is told of a reset, and not of the answer.
func drain(r *http.Request) { io.CopyN(io.Discard, r.Body, maxDrained) }
