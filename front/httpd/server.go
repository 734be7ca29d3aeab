package httpd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Options configure a server: its address, its token, and its time limits.
type Options struct {
	// Address is host:port; port 0 selects a free port. Without Remote, the host must be one that
	// only this machine reaches (127.0.0.1, ::1, localhost).
	Address string

	// Remote permits addresses that other machines reach. The server does not encrypt; use a proxy
	// that does.
	Remote bool

	// Token must be in the Authorization header of requests, after "Bearer". "" makes a random
	// token.
	Token string

	// Grace is the time that running requests may still take after the server starts to end.
	Grace time.Duration

	// Drain is the time for which an ending server still accepts requests, so that a load balancer
	// can notice before; see [Server.Ending].
	Drain time.Duration

	// ReadTimeout is the time limit for receiving a request. 0: one minute.
	ReadTimeout time.Duration
}

// Server answers HTTP requests. Add handlers before [Server.Serve].
type Server struct {
	options  Options
	listener net.Listener
	local    bool // only this machine reaches the address
	mux      *http.ServeMux
	ending   atomic.Bool
}

// minToken is the minimum length of a given token, since a shorter one is easily guessed.
const minToken = 16

// Listen opens the address. Requests are answered only after [Server.Serve].
func Listen(o Options) (*Server, error) {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not host:port: %w", o.Address, err)
	}
	local := isLoopback(host)
	if !local && !o.Remote {
		return nil, fmt.Errorf("other machines can reach the address %s. Whoever has the token could run models here, and can read it on the way, since nothing is encrypted. Use 127.0.0.1, or permit it", o.Address)
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	if len(o.Token) < minToken {
		return nil, fmt.Errorf("the token has %d characters, but must have at least %d", len(o.Token), minToken)
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = time.Minute
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err
	}
	return &Server{options: o, listener: listener, local: local, mux: http.NewServeMux()}, nil
}

// isLoopback reports whether only this machine reaches the host.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// URL returns the URL of the server's root, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Token returns the token that requests must have.
func (s *Server) Token() string { return s.options.Token }

// Handle adds a handler for requests that match a pattern of [http.ServeMux] and have the token.
func (s *Server) Handle(pattern string, h http.Handler) {
	s.mux.Handle(pattern, s.authorised(h))
}

// HandleOpen adds a handler for requests without a token. Use it only for answers that reveal
// nothing.
func (s *Server) HandleOpen(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Serve answers requests until the context is done. Running requests may then take the time Grace.
// After that their contexts are cancelled, and they have one second to end. The error is nil if all
// requests have ended in time or were cancelled in this way.
func (s *Server) Serve(ctx context.Context) error {
	requests, cancelRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelRequests(nil)
	server := &http.Server{
		Handler:           s.walls(s.mux),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       s.options.ReadTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.ending.Store(true)
	if s.options.Drain > 0 {
		select {
		case err := <-failed:
			return err
		case <-time.After(s.options.Drain):
		}
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
	defer stop()
	if server.Shutdown(grace) == nil {
		return nil
	}
	cancelRequests(ErrEnding)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	if err := server.Shutdown(last); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// Ending reports whether the server is shutting down.
func (s *Server) Ending() bool { return s.ending.Load() }

// Close releases the address of a server for which Serve was never called.
func (s *Server) Close() error { return s.listener.Close() }

// ErrEnding is the cause of cancellation for requests that exceed Grace during shutdown.
var ErrEnding = errors.New("the server is shutting down")
