// Package serve offers work on untrusted models over HTTP. Each request gets a separate process,
// which is restricted by limits and walls and ends with the request. The server itself never parses
// the requests' bodies. The caller makes the processes and defines their work, see [Work].
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// # Map
//
//	server.go   Server: from a request to a process and back; metrics
//	lane.go     a limited number of processes, and the queue of requests for them
//	limits.go   Limits: the limits of a request, in one table
//	process.go  a process seen from the server: start, frames, deadline, end; Probe
//	work.go     Work: a process seen from within: the job, its answer, its limits
//	frame.go    the messages between server and process
//	walls.go    Walls: other restrictions that the system enforces on a process
//
// On Linux:
//
//	limits_linux.go   limits of the system
//	confine_linux.go  Landlock, and access to the memory of server and processes
//	seccomp_*.go      the filter of system calls, from a table of the allowed ones
//
// # Trust
//
// A process is trusted until it reads the body of its job. After that, the server accepts from it
// only frames of bounded size. The process sets its own walls before it reads the body, in three
// steps: Landlock and limits, while it can still open files; then the filter of system calls; then,
// once [Call.Lower] has lowered the limits for the request, a second filter that denies changing
// them. The process itself enforces its time limit. If it fails to, the server kills it two seconds
// later. The pipe to a process stays open while the server lives and wants the answer. When the
// pipe closes, the process ends, even if the server was killed; on Linux the kernel kills it, too.
package serve
