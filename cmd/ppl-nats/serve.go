package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serverOptions are the options of a server.
type serverOptions struct {
	dir, listen      string
	token, cert, key string
	sync             bool // sync each message to the disk
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, o serverOptions, stderr io.Writer) error {
	s, err := startServer(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Serving at %s; what is under way is in %s.\n", s.ClientURL(), o.dir)
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// startServer starts a server with file storage.
func startServer(o serverOptions) (*server.Server, error) {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("--listen: %q is no port", port)
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	if ip := net.ParseIP(host); o.token == "" && (host == "" || ip != nil && !ip.IsLoopback()) {
		return nil, errors.New("a server that other machines reach needs a token: --token-file, or the variable PPL_NATS_TOKEN")
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	options := &server.Options{
		ServerName: "ppl", Host: host, Port: n, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: o.dir, SyncAlways: o.sync,
		Authorization: o.token, MaxPayload: 8 << 20,
	}
	if (o.cert == "") != (o.key == "") {
		return nil, errors.New("--cert and --key belong together")
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, fmt.Errorf("--cert: %w", err)
		}
		options.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		options.TLS, options.TLSTimeout = true, 5
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the server does not start at %s: is another one there, or is the disk full?", o.listen)
	}
	return s, nil
}
