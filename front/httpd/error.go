package httpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Error is an error of a request, in the form of its answer:
//
//	{"error": {"kind": "limit", "limit": "seconds", "message": "…"}}
type Error struct {
	Status int `json:"-"` // of HTTP

	Kind    string `json:"kind"`            // kind of the error: request, model, limit, busy or internal
	Limit   string `json:"limit,omitempty"` // name of the limit that was exceeded, if kind is limit
	Message string `json:"message"`         // the error in words

	// RetryAfter is the time after which the client may try again; 0: not known.
	RetryAfter time.Duration `json:"-"`

	// Messages are errors and warnings about the model and the data, with their places.
	Messages any `json:"messages,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrorVersion is the version of the format of error answers. It increases if a member changes its
// meaning or is removed.
const ErrorVersion = 1

// ErrorAnswer is the body of an error answer.
type ErrorAnswer struct {
	SchemaVersion int    `json:"schema_version"` // version of the format
	Error         *Error `json:"error"`          // why there is no result
}

// Answer returns the body of the answer.
func (e *Error) Answer() ErrorAnswer { return ErrorAnswer{ErrorVersion, e} }

// Busy returns the answer to a request for which the server has no capacity now.
func Busy(message string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Kind: "busy", Message: message, RetryAfter: time.Second}
}

// Fail sends an error.
func Fail(w http.ResponseWriter, e *Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	}
	Answer(w, e.Status, e.Answer())
}

// Answer sends v as JSON.
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
	w.Write(b.Bytes()) // the client may have disconnected
}
