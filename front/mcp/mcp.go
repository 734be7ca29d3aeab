// Package mcp offers tools and resources to agents over the Model Context Protocol, on standard
// input and output. It knows no models: the caller has the tools and does their work.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	mcp.go       Options: what a server offers
//	server.go    Serve: the methods of the protocol
//	protocol.go  the messages of the protocol, one to a line
//
// The protocol's official Go SDK is the client in the tests of ppl mcp. As the server it would make
// the program 1.3 MB larger. It has a web server and clients for authorisation, which a server on
// standard input does not need.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

// Tool is what an agent may call. Input and Output are JSON schemas of its arguments and of the
// structured part of its result.
type Tool struct {
	Name, Title, Description string
	Input, Output            json.RawMessage
}

// Resource is what an agent may read. With Template set, URI is an RFC 6570 template.
type Resource struct {
	URI, Name, Description, MIME string
	Template                     bool
}

// Result is the result of a call.
type Result struct {
	Text       []string        // for the agent to read
	Structured json.RawMessage // by the tool's schema; nil if Failed
	Failed     bool            // the call failed, and Text says why

	Added   []Resource // resources that there are from now on
	Removed []string   // URIs of resources that are gone
}

// Options has what a server offers.
type Options struct {
	Name, Version, Instructions string

	Tools     []Tool
	Resources []Resource

	// Call calls a tool. It reports progress, of total steps if that is positive. The end of ctx
	// cancels it. An error is one of the protocol, such as an unknown tool; a failure is a result.
	Call func(ctx context.Context, tool string, arguments json.RawMessage, progress func(done, total float64, message string)) (*Result, error)

	// Read reads a resource.
	Read func(ctx context.Context, uri string) (mime, text string, err error)

	MaxMessage int // bytes of the largest message from the client
}

// ErrNoResource says that there is no resource of a URI.
var ErrNoResource = errors.New("there is no such resource")
