// Package httpd is the HTTP server of ppl's commands. It answers requests from this machine, or
// with a token. It does not depend on models; commands add handlers.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// # Map
//
//	server.go   Options, Listen, Server: its address, its clients, its shutdown
//	walls.go    checks before a handler: host, origin, token
//	body.go     Bodies: bodies of requests, with a memory limit and a minimum rate
//	error.go    Error: errors of requests, as JSON
//	events.go   Stream: server-sent events
//	metrics.go  Metrics: counts and times in Prometheus' text format
package httpd
