package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/creachadair/jrpc2"
)

// stateless is the first version of the protocol without a session: each request has its version,
// and changes are reported to those who listen.
const stateless = "2026-07-28"

// versions returns the versions of the protocol that the server speaks, the newest first.
func versions() []string {
	return []string{stateless, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

// Error codes of the protocol.
const (
	codeNoResource jrpc2.Code = -32002
	codeNoVersion  jrpc2.Code = -32022
)

// Names of values in the field _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// object is a JSON object.
type object map[string]any

// params has the parameters of all requests.
type params struct {
	Meta struct {
		Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`

	ProtocolVersion string                              // initialize
	Name            string                              // tools/call
	Arguments       json.RawMessage                     // tools/call
	URI             string                              // resources/read
	RequestID       json.RawMessage                     // notifications/cancelled
	Notifications   struct{ ResourcesListChanged bool } // subscriptions/listen
}

// negotiated returns the version for a client that begins a session: the one that it wants, or else
// the newest that has sessions.
func negotiated(wanted string) string {
	if wanted != stateless && slices.Contains(versions(), wanted) {
		return wanted
	}
	return versions()[1]
}

// shown returns the description of a tool.
func (t *Tool) shown() object {
	o := object{
		"name": t.Name, "title": t.Title, "description": t.Description, "inputSchema": t.Input,
		// Tools compute; none of them changes anything outside this server.
		"annotations": object{"title": t.Title, "readOnlyHint": true, "openWorldHint": false},
	}
	if t.Output != nil {
		o["outputSchema"] = t.Output
	}
	return o
}

// shown returns the description of a resource or a template.
func (r *Resource) shown() object {
	uri := "uri"
	if r.Template {
		uri = "uriTemplate"
	}
	return object{uri: r.URI, "name": r.Name, "description": r.Description, "mimeType": r.MIME}
}

// shown returns the result of a call.
func (r *Result) shown() object {
	content := []object{}
	for _, text := range r.Text {
		content = append(content, object{"type": "text", "text": text})
	}
	o := object{"content": content}
	if r.Failed {
		o["isError"] = true
	}
	if r.Structured != nil {
		o["structuredContent"] = r.Structured
	}
	return o
}

// lines is a channel of jrpc2 with one message to a line.
type lines struct {
	in   *bufio.Reader
	from *io.PipeReader
	out  io.Writer
	max  int // bytes of a message
}

// newLines reads through a pipe, so that Close ends a waiting Recv. Closing standard input would
// not.
func newLines(in io.Reader, out io.Writer, max int) *lines {
	from, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, in)
		to.CloseWithError(err) // nil is the end of the file
	}()
	return &lines{in: bufio.NewReader(from), from: from, out: out, max: max}
}

// Send implements channel.Channel. A cancelled request has no answer in this protocol.
func (l *lines) Send(message []byte) error {
	var m struct{ Error struct{ Code jrpc2.Code } }
	if json.Unmarshal(message, &m) == nil && m.Error.Code == jrpc2.Cancelled {
		return nil
	}
	_, err := l.out.Write(append(message, '\n'))
	return err
}

// Recv implements channel.Channel.
func (l *lines) Recv() ([]byte, error) {
	var message []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(message)+len(part) > l.max {
			return nil, fmt.Errorf("a message of the client has more than %d bytes, which --max-bytes allows", l.max)
		}
		message = append(message, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		message = bytes.TrimSpace(message)
		if len(message) > 0 || err != nil {
			return message, err
		}
	}
}

// Close implements channel.Channel.
func (l *lines) Close() error { return l.from.Close() }
