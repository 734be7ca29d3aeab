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

// Error is what is wrong with a request, as it is answered:
//
//	{"error": {"kind": "limit", "limit": "seconds", "message": "…"}}
type Error struct {
	Status int `json:"-"` // of HTTP

	Kind    string `json:"kind"`            // what sort of thing is wrong: request, model, limit, busy or internal
	Limit   string `json:"limit,omitempty"` // the name of the limit that was passed, of the kind limit
	Message string `json:"message"`         // for people

	// RetryAfter is when the same request may be answered; 0: nothing is said about that.
	RetryAfter time.Duration `json:"-"`

	// Messages are those of the model and the data, with their places, if there are any.
	Messages any `json:"messages,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ErrorVersion is the version of the format of answers that have no result. It is raised when
// a member changes its meaning or goes away.
const ErrorVersion = 1

// ErrorAnswer is how a request is answered that has no result.
type ErrorAnswer struct {
	SchemaVersion int    `json:"schema_version"` // version of the format
	Error         *Error `json:"error"`          // why there is no result
}

// Answer is e as it is answered.
func (e *Error) Answer() ErrorAnswer { return ErrorAnswer{ErrorVersion, e} }

// Busy is the answer to a request that the server has no room for now.
func Busy(message string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Kind: "busy", Message: message, RetryAfter: time.Second}
}

// Fail answers with an error.
func Fail(w http.ResponseWriter, e *Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	}
	Answer(w, e.Status, e.Answer())
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
