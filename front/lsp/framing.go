package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// maxMessage is the maximum length of a message, so that a wrong header does not request all
// memory.
const maxMessage = 64 << 20

// framing is a channel of jrpc2 for messages with headers, as the protocol defines them. The
// channel in jrpc2 ends the connection at content types that the protocol allows, and accepts any
// length.
type framing struct {
	in   *bufio.Reader
	from *io.PipeReader
	out  io.WriteCloser

	ended  bool // in has ended, or the client has sent exit
	closed chan struct{}
	once   sync.Once

	// Calls of the client that have no answer yet, by their id. They stay until the answer is
	// written, which is later than the return of the handler.
	mu       sync.Mutex
	open     map[string]bool
	answered sync.WaitGroup
}

// envelope has the two fields that only calls have both of; answers and notifications lack one.
type envelope struct {
	ID     json.RawMessage
	Method string
}

// methodGone is a message for the end of the input. It arrives after the preceding messages have
// been handled; closing the channel would drop waiting messages.
const methodGone = "$/ppl/gone"

// newFraming reads through a pipe, so that Close ends a waiting Recv. Closing standard input would
// not.
func newFraming(in io.Reader, out io.WriteCloser) *framing {
	from, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, in)
		to.CloseWithError(err) // nil is the end of the file
	}()
	return &framing{in: bufio.NewReader(from), from: from, out: out, closed: make(chan struct{}), open: map[string]bool{}}
}

// To a call that is cancelled before its handler runs, jrpc2 answers with jrpc2.Cancelled.
// These are the beginnings of an error with that code, and with requestCancelled.
const (
	cancelledEarly = `"error":{"code":-32097,`
	cancelled      = `"error":{"code":-32800,`
)

// Send implements channel.Channel.
func (f *framing) Send(message []byte) error {
	message = bytes.Replace(message, []byte(cancelledEarly), []byte(cancelled), 1)
	_, err := f.out.Write(append([]byte("Content-Length: "+strconv.Itoa(len(message))+"\r\n\r\n"), message...))
	var m envelope
	if json.Unmarshal(message, &m) == nil && m.Method == "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open[string(m.ID)] {
			delete(f.open, string(m.ID))
			f.answered.Done()
		}
	}
	return err
}

// Recv implements channel.Channel.
func (f *framing) Recv() ([]byte, error) {
	if f.ended {
		<-f.closed
		return nil, io.EOF
	}
	length := -1
	for first := true; ; {
		line, err := f.line()
		if err != nil {
			if err == io.EOF && first && line == "" {
				f.ended = true
				return []byte(`{"jsonrpc":"2.0","method":"` + methodGone + `"}`), nil
			} else if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if line == "" && first {
			continue // an empty line before the headers
		} else if line == "" {
			break
		}
		first = false
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%.40q is not a header; messages begin with Content-Length: N", line)
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
				return nil, fmt.Errorf("%.40q is not the length of a message", strings.TrimSpace(value))
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("a message has no Content-Length")
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(f.in, message); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	// Ignore everything after exit. A message that arrives while the server stops would make jrpc2
	// send on a closed channel.
	var m envelope
	if json.Unmarshal(message, &m) == nil && m.Method != "" {
		f.ended = m.Method == "exit"
		f.mu.Lock()
		defer f.mu.Unlock()
		if id := string(m.ID); id != "" && id != "null" && !f.open[id] {
			f.open[id] = true
			f.answered.Add(1)
		}
	}
	return message, nil
}

// line reads a line of a header, which is short.
func (f *framing) line() (string, error) {
	text, err := f.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return "", fmt.Errorf("a header is too long")
	}
	return strings.TrimRight(string(text), "\r\n"), err
}

// Close implements channel.Channel.
func (f *framing) Close() error {
	f.once.Do(func() { close(f.closed) })
	f.from.CloseWithError(io.EOF)
	return f.out.Close()
}
