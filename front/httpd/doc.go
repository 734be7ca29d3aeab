// Package httpd is the HTTP server of ppl's commands: it answers this machine
// alone, and whoever has the token. It knows nothing of models; who serves
// something adds handlers.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// # Map
//
//	server.go  Options, Listen, Server: where it listens, who is answered, how it ends
//	walls.go   what a request passes before its handler: host, origin, token
//	body.go    Bodies: bodies of requests, within a budget of memory and a rate
//	error.go   Error: what is wrong with a request, as JSON
//	events.go  Stream: server-sent events
//	metrics.go Metrics: counts and times in Prometheus' text format
package httpd
