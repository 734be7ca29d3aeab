package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// job is the input of a process: a line of JSON, and the request as received.
type job struct {
	Kind   string `json:"kind"`
	Stream bool   `json:"stream"` // progress and prints are wanted as they come
	Limits Limits `json:"limits"`
	Walls  Walls  `json:"walls"`  // that the process must have at least
	Length int    `json:"length"` // of the request

	body []byte
}

func (j *job) write(w io.Writer) error {
	j.Length = len(j.body)
	head, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(head, '\n')); err != nil {
		return err
	}
	_, err = w.Write(j.body)
	return err
}

// The events that a process sends. The last one is a result or a failure. The event Limits has the
// limits that the request lowered; the server does not pass it on to the client.
const (
	eventLimits   = "limits"
	eventProgress = "progress"
	eventPrint    = "print"
	eventResult   = "result"
	eventFailure  = "error"
)

// A frame is a line "event length" and as many bytes: JSON without line breaks.
func writeFrame(w io.Writer, event string, payload []byte) error {
	if _, err := fmt.Fprintf(w, "%s %d\n", event, len(payload)); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

// maxSmall is the maximum size of frames that are not results.
const maxSmall = 1 << 20

var errFrame = errors.New("the process sent something that is not a frame")

// readHead reads the head of a frame from an untrusted process.
func readHead(r *bufio.Reader, maxResult int64) (event string, length int64, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errFrame
		}
		return "", 0, err
	}
	event, number, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	length, err = strconv.ParseInt(number, 10, 64)
	limit := int64(maxSmall)
	switch event {
	case eventLimits, eventProgress, eventPrint, eventFailure:
	case eventResult:
		limit = maxResult
	default:
		return "", 0, errFrame
	}
	if err != nil || length < 0 || length > limit {
		return "", 0, errFrame
	}
	return event, length, nil
}
