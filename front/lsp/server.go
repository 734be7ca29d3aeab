package lsp

import (
	"context"
	"errors"
	"io"
	"log"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"github.com/ppl-lang/ppl/lang/service"
)

// Options are the options of [Serve].
type Options struct {
	Library service.Library
	Version string

	// IncludePaths are the folders that are searched for included files after the model's folder.
	IncludePaths []string

	// Command returns a command that runs ppl with arguments, to run and check models.
	Command func(ctx context.Context, args ...string) *exec.Cmd

	// Log receives the server's internal errors.
	Log io.Writer
}

// Serve answers a client on in and out until it sends exit or closes in. The error is nil if the
// client has sent shutdown before, as the protocol requires.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, o Options) error {
	s := &server{options: o, log: log.New(o.Log, "ppl lsp: ", 0), methods: table(), runs: map[string]*execution{}, folders: map[string]string{}, painted: map[string]tokens{}}
	s.workspace = newWorkspace(s)
	s.ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	// Requests that wait for a running model must not delay others.
	s.rpc = jrpc2.NewServer(s, &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: 64, NewContext: func() context.Context { return s.ctx }})
	s.connection = newFraming(in, out)
	s.rpc.Start(s.connection)
	context.AfterFunc(s.ctx, s.rpc.Stop)
	status := s.rpc.WaitStatus()
	s.stop()
	s.background.Wait()
	s.removeFolders()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case status.Err != nil && !s.exited:
		return status.Err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.state != stateShutdown:
		return errors.New("the client disconnected without a shutdown request")
	}
	return nil
}

// state is the phase of a session.
type state int

const (
	stateNew state = iota
	stateInitialized
	stateShutdown
)

// server is one session.
type server struct {
	options    Options
	methods    []method
	log        *log.Logger
	rpc        *jrpc2.Server
	connection *framing
	ctx        context.Context // of all work in progress
	stop       context.CancelFunc
	workspace  *workspace

	background sync.WaitGroup // work outside of requests

	mu       sync.Mutex
	state    state
	exited   bool
	settings Settings
	client   InitializeParams
	runs     map[string]*execution // by command and document
	folders  map[string]string     // by document: where its last run is
	tokens   int                   // of progress
	painted  map[string]tokens     // by document: the last answer about its tokens
	answers  int                   // number of answers about tokens
	messages int64                 // number of messages received
}

// received counts a message. Its number orders messages as they came, whenever their handlers
// begin.
func (s *server) received() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages++
	return s.messages
}

// mayHandle returns an error if a method is not allowed in the current state of the session.
func (s *server) mayHandle(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == "exit" || name == methodGone:
	case s.state == stateNew && name != "initialize":
		return jrpc2.Errorf(serverNotInitialized, "the session begins with initialize")
	case s.state == stateInitialized && name == "initialize":
		return jrpc2.Errorf(jrpc2.InvalidRequest, "the session has begun already")
	case s.state == stateShutdown && !strings.HasPrefix(name, "$/"):
		return jrpc2.Errorf(jrpc2.InvalidRequest, "the session is over; only exit is accepted")
	}
	switch name {
	case "initialize":
		s.state = stateInitialized
	case "shutdown":
		s.state = stateShutdown
	}
	return nil
}

func (s *server) initialize(_ context.Context, p *InitializeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = *p
	if p.InitializationOptions != nil {
		s.settings = *p.InitializationOptions
	}
	return InitializeResult{
		Capabilities: capabilities(),
		ServerInfo:   map[string]string{"name": "ppl", "version": s.options.Version},
	}, nil
}

// initialized asks for notifications when included files or data files change.
func (s *server) initialized(context.Context, *none) (any, error) {
	if !s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return nil, nil
	}
	watchers := []map[string]string{{"globPattern": "**/*.{stan,stanfunctions,model,json}"}}
	s.ask("client/registerCapability", map[string]any{"registrations": []any{map[string]any{
		"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": watchers},
	}}})
	return nil, nil
}

func (s *server) shutdown(context.Context, *none) (any, error) {
	s.mu.Lock()
	runs := s.runs
	s.runs = map[string]*execution{}
	s.mu.Unlock()
	for _, r := range runs {
		r.cancel(errEnded)
	}
	return nil, nil
}

func (s *server) exit(ctx context.Context, _ *none) (any, error) {
	s.mu.Lock()
	s.exited = true
	s.mu.Unlock()
	return s.gone(ctx, nil)
}

// patience is the maximum time to wait for answers at the end of a session.
const patience = 2 * time.Second

// gone ends the session when the preceding requests are answered.
func (s *server) gone(context.Context, *none) (any, error) {
	s.mu.Lock()
	for _, r := range s.runs {
		r.cancel(errEnded)
	}
	s.mu.Unlock()
	// Stop from another goroutine, because stopping waits for this handler.
	go func() {
		done := make(chan struct{})
		go func() { s.connection.answered.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(patience):
		}
		s.stop()
	}()
	return nil, nil
}

type cancelParams struct {
	ID rawID `json:"id"`
}

// rawID is an identifier as written: a number or a string in quotes.
type rawID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *rawID) UnmarshalJSON(text []byte) error { *id = rawID(text); return nil }

func (s *server) cancelRequest(_ context.Context, p *cancelParams) (any, error) {
	s.rpc.CancelRequest(string(p.ID))
	return nil, nil
}

// notify sends a notification. Errors are ignored: a client that is gone is noticed elsewhere.
func (s *server) notify(method string, params any) {
	if err := s.rpc.Notify(s.ctx, method, params); err != nil && s.ctx.Err() == nil {
		s.log.Printf("%s: %v", method, err)
	}
}

// ask sends a request and ignores its answer.
func (s *server) ask(method string, params any) {
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		s.rpc.Callback(ctx, method, params) // errors are ignored
	})
}

// show shows the user a message.
func (s *server) show(kind int, text string) {
	s.notify("window/showMessage", MessageParams{kind, text})
}
