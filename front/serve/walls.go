package serve

import (
	"fmt"
	"strings"
)

// Walls are the restrictions that the system enforces on a process of work, in addition to its
// limits. They are set before the process reads untrusted input, and it cannot lift them.
type Walls struct {
	// Seccomp: the process has only the system calls of the table in seccomp_linux.go. It
	// opens no file and no connection, starts no program, and reaches no other process.
	Seccomp bool `json:"seccomp"`

	// Landlock is the version of the kernel's Landlock interface under which the process has
	// no right to any file, TCP port, or process outside; 0: none.
	Landlock int `json:"landlock"`

	// Orphans: the system kills the process when the server dies.
	Orphans bool `json:"orphans"`
}

// Confined reports whether the walls confine a process that an attacker controls. Landlock adds to
// seccomp, but cannot replace it.
func (w Walls) Confined() bool { return w.Seccomp }

// within reports whether w has at least the walls of other.
func (w Walls) within(other Walls) bool {
	return (w.Seccomp || !other.Seccomp) && w.Landlock >= other.Landlock && (w.Orphans || !other.Orphans)
}

// String lists the walls: "seccomp, Landlock 7, parent-death signal"; "none" if there are none.
func (w Walls) String() string {
	var list []string
	if w.Seccomp {
		list = append(list, "seccomp")
	}
	if w.Landlock > 0 {
		list = append(list, fmt.Sprintf("Landlock %d", w.Landlock))
	}
	if w.Orphans {
		list = append(list, "parent-death signal")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// phase is a step in which the walls of a process are closed further.
type phase int

const (
	// closing comes before the request is read. The limits can still be lowered afterwards.
	closing phase = iota
	// sealing is the last phase, after which only the work itself is allowed.
	sealing
)
