package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/creachadair/jrpc2"
)

// Serve answers a client until it closes in or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{Options: o, ctx: ctx, resources: slices.Clone(o.Resources)}
	// Calls that wait for a running model, and listeners, must not delay others.
	s.rpc = jrpc2.NewServer(s, &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: 1000, NewContext: func() context.Context { return ctx }})
	s.rpc.Start(newLines(in, out, o.MaxMessage))
	context.AfterFunc(ctx, s.rpc.Stop)
	if err := s.rpc.Wait(); ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// server is one session.
type server struct {
	Options
	ctx context.Context
	rpc *jrpc2.Server

	mu        sync.Mutex
	begun     bool // by initialize
	resources []Resource
	listeners []string // the requests to which changes of the resources are reported
}

// Assign implements jrpc2.Assigner.
func (s *server) Assign(_ context.Context, method string) jrpc2.Handler {
	var m func(context.Context, *jrpc2.Request, *params) (object, error)
	cached := true // the result says how long it holds
	switch method {
	case "initialize":
		// Methods are assigned in the order of the requests, but the requests run concurrently.
		s.mu.Lock()
		s.begun = true
		s.mu.Unlock()
		m, cached = s.initialize, false
	case "server/discover":
		m = s.discover
	case "ping", "notifications/initialized":
		m, cached = nothing, false
	case "notifications/cancelled":
		m, cached = s.cancel, false
	case "subscriptions/listen":
		m, cached = s.listen, false
	case "tools/list":
		m = s.listTools
	case "tools/call":
		m, cached = s.callTool, false
	case "resources/list":
		m = s.listResources
	case "resources/templates/list":
		m = s.listTemplates
	case "resources/read":
		m = s.readResource
	default:
		// With no handler, jrpc2 would never release the number of the request.
		return func(context.Context, *jrpc2.Request) (any, error) {
			return nil, jrpc2.Errorf(jrpc2.MethodNotFound, "there is no method %s", method)
		}
	}
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		var p params
		if r.HasParams() {
			if err := json.Unmarshal([]byte(r.ParamString()), &p); err != nil {
				return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the parameters cannot be read: %v", err)
			}
		}
		if err := s.mayHandle(method, &p); err != nil {
			return nil, err
		}
		result, err := m(ctx, r, &p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if p.Meta.Version == stateless {
			result["resultType"] = "complete"
			result["_meta"] = object{metaServer: s.info()}
			if cached {
				result["ttlMs"], result["cacheScope"] = 0, "private"
			}
		}
		return result, nil
	}
}

// mayHandle returns an error if a request is not allowed in the state of the session.
func (s *server) mayHandle(method string, p *params) error {
	switch version := p.Meta.Version; {
	case version > stateless:
		return jrpc2.Errorf(codeNoVersion, "the server does not speak version %s", version).WithData(object{"supported": versions(), "requested": version})
	case version == stateless || method == "initialize" || method == "ping" || method == "notifications/cancelled":
		return nil
	case method == "server/discover" || method == "subscriptions/listen":
		return jrpc2.Errorf(jrpc2.MethodNotFound, "%s is of version %s, which the field %s must name", method, stateless, metaVersion)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		return jrpc2.Errorf(jrpc2.InvalidRequest, "a session begins with initialize")
	}
	return nil
}

func (s *server) info() object { return object{"name": s.Name, "version": s.Version} }

func capabilities() object {
	return object{"tools": object{}, "resources": object{"listChanged": true}}
}

func (s *server) initialize(_ context.Context, _ *jrpc2.Request, p *params) (object, error) {
	return object{"protocolVersion": negotiated(p.ProtocolVersion), "capabilities": capabilities(), "serverInfo": s.info(), "instructions": s.Instructions}, nil
}

func (s *server) discover(context.Context, *jrpc2.Request, *params) (object, error) {
	return object{"supportedVersions": versions(), "capabilities": capabilities(), "instructions": s.Instructions}, nil
}

func nothing(context.Context, *jrpc2.Request, *params) (object, error) { return object{}, nil }

func (s *server) cancel(_ context.Context, _ *jrpc2.Request, p *params) (object, error) {
	s.rpc.CancelRequest(string(p.RequestID))
	return object{}, nil
}

// listen reports changes of the resources until the client cancels the request.
func (s *server) listen(ctx context.Context, r *jrpc2.Request, p *params) (object, error) {
	accepted := object{}
	if p.Notifications.ResourcesListChanged {
		accepted["resourcesListChanged"] = true
		s.mu.Lock()
		s.listeners = append(s.listeners, r.ID())
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.listeners = slices.DeleteFunc(s.listeners, func(id string) bool { return id == r.ID() })
		}()
	}
	s.notify("notifications/subscriptions/acknowledged", object{"_meta": subscription(r.ID()), "notifications": accepted})
	<-ctx.Done()
	return nil, ctx.Err()
}

func subscription(id string) object { return object{metaSubscription: json.RawMessage(id)} }

// notify sends a notification. A client that is gone ends the session; there is nothing else to do
// about an error.
func (s *server) notify(method string, params object) { _ = s.rpc.Notify(s.ctx, method, params) }

func (s *server) listTools(context.Context, *jrpc2.Request, *params) (object, error) {
	tools := []object{}
	for i := range s.Tools {
		tools = append(tools, s.Tools[i].shown())
	}
	return object{"tools": tools}, nil
}

func (s *server) callTool(ctx context.Context, _ *jrpc2.Request, p *params) (object, error) {
	last := 0.0
	progress := func(done, total float64, message string) {
		if p.Meta.ProgressToken == nil || done <= last { // the protocol wants it to increase
			return
		}
		last = done
		about := object{"progressToken": p.Meta.ProgressToken, "progress": done}
		if total > 0 {
			about["total"] = total
		}
		if message != "" {
			about["message"] = message
		}
		s.notify("notifications/progress", about)
	}
	result, err := s.Call(ctx, p.Name, p.Arguments, progress)
	if err != nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%v", err)
	}
	if len(result.Added)+len(result.Removed) > 0 {
		s.change(result.Added, result.Removed)
	}
	return result.shown(), nil
}

// change adds and removes resources, and reports it.
func (s *server) change(added []Resource, removed []string) {
	s.mu.Lock()
	s.resources = slices.DeleteFunc(s.resources, func(r Resource) bool {
		return slices.Contains(removed, r.URI) || slices.ContainsFunc(added, func(a Resource) bool { return a.URI == r.URI })
	})
	s.resources = append(s.resources, added...)
	begun, listeners := s.begun, slices.Clone(s.listeners)
	s.mu.Unlock()
	const method = "notifications/resources/list_changed"
	if begun {
		s.notify(method, object{})
	}
	for _, id := range listeners {
		s.notify(method, object{"_meta": subscription(id)})
	}
}

func (s *server) listResources(context.Context, *jrpc2.Request, *params) (object, error) {
	return object{"resources": s.shown(false)}, nil
}

func (s *server) listTemplates(context.Context, *jrpc2.Request, *params) (object, error) {
	return object{"resourceTemplates": s.shown(true)}, nil
}

// shown returns the descriptions of the resources, or of the templates.
func (s *server) shown(templates bool) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []object{}
	for i := range s.resources {
		if r := &s.resources[i]; r.Template == templates {
			out = append(out, r.shown())
		}
	}
	return out
}

func (s *server) readResource(ctx context.Context, _ *jrpc2.Request, p *params) (object, error) {
	mime, text, err := s.Read(ctx, p.URI)
	if errors.Is(err, ErrNoResource) {
		return nil, jrpc2.Errorf(codeNoResource, "%v", err).WithData(object{"uri": p.URI})
	}
	if err != nil {
		return nil, jrpc2.Errorf(jrpc2.InternalError, "cannot read %s: %v", p.URI, err)
	}
	return object{"contents": []object{{"uri": p.URI, "mimeType": mime, "text": text}}}, nil
}
