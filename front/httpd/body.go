package httpd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bodies reads the bodies of requests within a memory limit. A quarter of the memory is for small
// bodies, which therefore never wait for large ones.
type Bodies struct {
	limit    int64 // of one body
	waits    int64 // maximum number of requests that wait for memory
	grace    time.Duration
	smallest *semaphore.Weighted
	large    *semaphore.Weighted
	held     atomic.Int64
	waiting  atomic.Int64
}

const (
	// small is the length up to which a body gets memory while it arrives. A longer body waits
	// until the memory for all of it is reserved.
	small = 64 << 10

	// minRate is the minimum rate in bytes per second, after bodyGrace. Slower bodies are refused.
	minRate   = 512 << 10
	bodyGrace = 5 * time.Second
)

// MinTotal returns the minimum total for bodies of at most limit bytes.
func MinTotal(limit int64) int64 { return 2 * max(limit, 8*small) }

// NewBodies returns a reader of bodies of at most limit bytes each and total together, which
// must be at least [MinTotal]. At most waits requests wait for memory at a time.
func NewBodies(limit, total int64, waits int) *Bodies {
	return &Bodies{limit: limit, waits: int64(waits), grace: bodyGrace, smallest: semaphore.NewWeighted(total / 4), large: semaphore.NewWeighted(total - total/4)}
}

// Held returns the number of bytes in memory or reserved.
func (b *Bodies) Held() int64 { return b.held.Load() }

// Waiting returns the number of requests that wait for memory.
func (b *Bodies) Waiting() int64 { return b.waiting.Load() }

// Body is a body in memory.
type Body struct {
	Text     []byte
	from     *semaphore.Weighted
	reserved int64
	held     *atomic.Int64
}

// Release returns the memory. It may be called more than once.
func (b *Body) Release() {
	b.Text = nil
	b.from.Release(b.reserved)
	b.held.Add(-b.reserved)
	b.reserved = 0
}

func (b *Body) reserve(n int64) bool {
	if !b.from.TryAcquire(n) {
		return false
	}
	b.reserved += n
	b.held.Add(n)
	return true
}

// CheckJSON checks the header of a request before its body is read. It returns an *[Error] if the
// body is not JSON or is too long for [Bodies.ReadJSON].
func (b *Bodies) CheckJSON(r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		// Pages of other origins cannot send JSON without the server's permission, but other types.
		return &Error{Status: http.StatusUnsupportedMediaType, Kind: "request", Message: "the body must be JSON, with the header Content-Type: application/json"}
	}
	if r.ContentLength > b.limit {
		return b.tooLarge()
	}
	return nil
}

func (b *Bodies) tooLarge() error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Kind: "limit", Limit: "bytes", Message: fmt.Sprintf("the request has more than %d bytes", b.limit)}
}

// ReadJSON reads the body of a request whose header says that it is JSON. It does not parse the
// body. Release the body after use. The error is an *[Error].
func (b *Bodies) ReadJSON(w http.ResponseWriter, r *http.Request) (*Body, error) {
	body, err := b.read(w, r)
	control := http.NewResponseController(w)
	if err == nil {
		// The time limit for reading must not apply to processing.
		if err = control.SetReadDeadline(time.Time{}); err == nil {
			return body, nil
		}
	}
	if body != nil {
		body.Release()
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok && errors.Is(err, os.ErrDeadlineExceeded):
		e = &Error{Status: http.StatusRequestTimeout, Kind: "request", Message: fmt.Sprintf("the body arrives too slowly: after %v it must arrive at %d bytes a second", b.grace, minRate)}
	case !ok:
		e = &Error{Status: http.StatusBadRequest, Kind: "request", Message: "the request is incomplete: " + err.Error()}
	case e.Status != http.StatusUnsupportedMediaType:
		Discard(w, r)
	}
	return nil, e
}

// Discard reads and drops the rest of a body for a while: if the connection were closed while a
// client is still sending, the client would see an error of the connection instead of the answer.
func Discard(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" { // the client waits for permission before it sends
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyGrace))
	_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
}

// maxDiscarded is the maximum number of bytes that are read from an unwanted body.
const maxDiscarded = 128 << 20

func (b *Bodies) read(w http.ResponseWriter, r *http.Request) (*Body, error) {
	if err := b.CheckJSON(r); err != nil {
		return nil, err
	}
	in := &timedReader{r: r.Body, control: http.NewResponseController(w), began: time.Now(), grace: b.grace}
	head := &Body{from: b.smallest, held: &b.held}
	var part [8 << 10]byte
	for {
		n, err := in.Read(part[:min(len(part), small-len(head.Text))])
		if int64(len(head.Text)+n) > b.limit {
			return head, b.tooLarge()
		}
		if !head.reserve(int64(n)) {
			return head, Busy("the bodies of other requests fill the server's memory")
		}
		head.Text = append(head.Text, part[:n]...)
		if err == io.EOF {
			return head, nil
		}
		if err != nil {
			return head, err
		}
		if len(head.Text) >= small {
			break
		}
	}
	return b.rest(r, in, head)
}

// rest reads the part of a body after its head.
func (b *Bodies) rest(r *http.Request, in *timedReader, head *Body) (*Body, error) {
	size := b.limit // not known before the end
	if r.ContentLength >= 0 {
		size = r.ContentLength
	}
	size = max(size, int64(len(head.Text)))
	waited := time.Now()
	if err := b.acquire(r.Context(), size); err != nil {
		return head, err
	}
	in.began = in.began.Add(time.Since(waited))
	body := &Body{from: b.large, reserved: size, held: &b.held}
	if r.ContentLength >= 0 {
		body.Text = make([]byte, 0, size)
	}
	body.Text = append(body.Text, head.Text...)
	head.Release()
	for {
		if len(body.Text) == cap(body.Text) {
			if int64(len(body.Text)) == size { // all of it, or too much
				var more [1]byte
				if n, err := in.Read(more[:]); n > 0 {
					return body, b.tooLarge()
				} else if err == io.EOF {
					return body, nil
				} else if err != nil {
					return body, err
				}
				continue
			}
			grown := make([]byte, len(body.Text), min(2*int64(cap(body.Text)), size))
			copy(grown, body.Text)
			body.Text = grown
		}
		n, err := in.Read(body.Text[len(body.Text):cap(body.Text)])
		body.Text = body.Text[:len(body.Text)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
}

// acquire waits for memory for a large body.
func (b *Bodies) acquire(ctx context.Context, size int64) error {
	if !b.large.TryAcquire(size) {
		if b.waiting.Add(1) > b.waits {
			b.waiting.Add(-1)
			return Busy(fmt.Sprintf("%d large requests are waiting already", b.waits))
		}
		err := b.large.Acquire(ctx, size)
		b.waiting.Add(-1)
		if err != nil {
			return Busy(context.Cause(ctx).Error())
		}
	}
	b.held.Add(size)
	return nil
}

// timedReader reads a body, which must keep to the minimum rate.
type timedReader struct {
	r       io.Reader
	control *http.ResponseController
	began   time.Time
	grace   time.Duration
	n       int64
}

func (t *timedReader) Read(b []byte) (int, error) {
	due := t.grace + time.Duration(float64(t.n)/minRate*float64(time.Second))
	if err := t.control.SetReadDeadline(t.began.Add(due)); err != nil {
		return 0, err
	}
	n, err := t.r.Read(b)
	t.n += int64(n)
	return n, err
}
