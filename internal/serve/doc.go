// Package serve offers work on models of strangers over HTTP: each request is
// done by a process of its own, which has limits and ends with the request. The
// server itself never looks into what it is sent; who makes the processes says
// what they do, see [Work].
//
// # Map
//
//	limits.go  Limits: what one request may use, in one table
//	server.go  Server: from a request to a process and back; the queue; metrics
//	process.go a process seen from the server: start, frames, deadline, end
//	work.go    Work: a process seen from within: the job, its answer, its limits
//	frame.go   what goes through the pipes between both
//	walls_*.go what the system enforces on a process
//
// # Who trusts whom
//
// A process is trusted until it reads its job, and not after: the server takes
// from it frames of bounded size and nothing else. Its walls (memory, time of
// processors, no files) are set by itself before the job is read; time is
// enforced by itself, and two seconds later by the server, which kills it. The
// pipe to a process stays open while the server lives and wants the answer: when
// it closes, the process ends, even if the server was killed.
package serve
