// Package mcp offers tools and resources to agents over the Model Context Protocol, on standard
// input and output. It knows no models: the caller has the tools and does their work.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	mcp.go   Options, Serve: the server, by the protocol's official Go SDK
//	end.go   answers requests before the end of the input
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// Serve answers a client until it closes in or ctx ends. It answers all requests before the end
// of in.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) error {
	s := sdk.NewServer(&sdk.Implementation{Name: o.Name, Version: o.Version}, &sdk.ServerOptions{
		Instructions: o.Instructions,
		Capabilities: &sdk.ServerCapabilities{},
	})
	for _, t := range o.Tools {
		tool := &sdk.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Input,
			// Tools compute; none of them changes anything outside this server.
			Annotations: &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: true, OpenWorldHint: new(false)},
		}
		if t.Output != nil { // an interface with an empty message would be written as null
			tool.OutputSchema = t.Output
		}
		s.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return o.call(ctx, s, r)
		})
	}
	for _, r := range o.Resources {
		o.add(s, r)
	}
	err := s.Run(ctx, answering{&sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: o.MaxMessage}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

// add offers a resource.
func (o *Options) add(s *sdk.Server, r Resource) {
	if r.Template {
		s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIME}, o.read)
		return
	}
	s.AddResource(&sdk.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIME}, o.read)
}

func (o *Options) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	mime, text, err := o.Read(ctx, uri)
	if errors.Is(err, ErrNoResource) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", uri, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}, nil
}

func (o *Options) call(ctx context.Context, s *sdk.Server, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	progress := func(done, total float64, message string) {}
	if token := r.Params.GetProgressToken(); token != nil {
		last := 0.0
		progress = func(done, total float64, message string) {
			if done <= last { // the protocol wants it to increase
				return
			}
			last = done
			// A client that is gone ends the context; there is nothing else to do about an error.
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
		}
	}
	result, err := o.Call(ctx, r.Params.Name, r.Params.Arguments, progress)
	if err != nil {
		return nil, err
	}
	for _, added := range result.Added {
		o.add(s, added)
	}
	if len(result.Removed) > 0 {
		s.RemoveResources(result.Removed...)
	}
	out := &sdk.CallToolResult{IsError: result.Failed}
	for _, text := range result.Text {
		out.Content = append(out.Content, &sdk.TextContent{Text: text})
	}
	if result.Structured != nil {
		out.StructuredContent = result.Structured
	}
	return out, nil
}
