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

// Options say where a server listens and whom it answers.
type Options struct {
	// Address is host:port; port 0 is any free one. The host must be of this
	// machine alone (127.0.0.1, ::1, localhost) unless Remote is set.
	Address string

	// Remote permits addresses that other machines reach. The traffic is not encrypted; a proxy in
	// front of the server has to do that.
	Remote bool

	// Token is what requests must have in their header Authorization, after
	// "Bearer". "" makes a random one.
	Token string

	// Grace is how long requests may still take when the server is to end.
	Grace time.Duration

	// Drain is how long requests are still taken when the server is to end, so that a load
	// balancer that asks finds out first; see [Server.Ending].
	Drain time.Duration

	// ReadTimeout bounds the time in which a request must have come in whole.
	// 0: a minute.
	ReadTimeout time.Duration
}

// Server answers HTTP requests. Handlers are added before [Server.Serve].
type Server struct {
	options  Options
	listener net.Listener
	local    bool // only this machine reaches the address
	mux      *http.ServeMux
	ending   atomic.Bool
}

// minToken is the least length of a given token: a shorter one is soon guessed.
const minToken = 16

// Listen opens the address. Nothing is answered before [Server.Serve].
func Listen(o Options) (*Server, error) {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not host:port: %w", o.Address, err)
	}
	local := isLoopback(host)
	if !local && !o.Remote {
		return nil, fmt.Errorf("other machines reach the address %s: whoever has the token could run models here, and reads it on the way, as nothing is encrypted; use 127.0.0.1, or permit it", o.Address)
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

// isLoopback says whether only this machine reaches the host.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// URL is that of the server's root, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Token is what requests must show.
func (s *Server) Token() string { return s.options.Token }

// Handle answers requests that match the pattern of [http.ServeMux] and have the
// token.
func (s *Server) Handle(pattern string, h http.Handler) {
	s.mux.Handle(pattern, s.authorised(h))
}

// HandleOpen answers requests without a token too; use it for answers that reveal nothing.
func (s *Server) HandleOpen(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Serve answers requests until the context is done. Requests in progress may then take the time of
// Grace; after that their contexts are cancelled, and they have a second to end. The error is nil
// if everything has ended in time or was cancelled in this way.
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

// Ending reports whether the server is to end soon.
func (s *Server) Ending() bool { return s.ending.Load() }

// Close gives up the address of a server that was never served.
func (s *Server) Close() error { return s.listener.Close() }

// ErrEnding is the cause of the cancellation of requests that take longer than
// Grace when the server ends.
var ErrEnding = errors.New("the server is ending")
