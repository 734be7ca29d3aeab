// Package serve offers work on untrusted models over HTTP: each request gets a separate
// process, which has limits and walls and ends with the request. The server itself never
// looks into what it receives. The caller makes the processes and says what they do, see
// [Work].
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// # Map
//
//	server.go  Server: from a request to a process and back; metrics
//	lane.go    processes that work at a time, and the queue before them
//	limits.go  Limits: what one request may use, in one table
//	process.go a process seen from the server: start, frames, deadline, end; Probe
//	work.go    Work: a process seen from within: the job, its answer, its limits
//	frame.go   what goes through the pipes between both
//	walls.go   Walls: what the system enforces on a process besides limits
//
// On Linux:
//
//	limits_linux.go  limits of the system
//	confine_linux.go Landlock, and who may reach the memory of server and processes
//	seccomp_*.go     the filter of system calls, from a table of those that are allowed
//
// # Who trusts whom
//
// A process is trusted until it reads the body of its job, and not after: the server takes
// from it frames of bounded size and nothing else. It sets its own walls before it reads the
// body, in three steps: Landlock and limits, while it can still open files; then the filter
// of system calls; then, once [Call.Lower] has lowered the limits for the request, a second
// filter that denies changing them. The process itself enforces time, and two seconds later
// the server does, which kills it. The pipe to a process stays open while the server lives
// and wants the answer: when it closes, the process ends, even if the server was killed; on
// Linux the kernel kills it, too.
package serve
