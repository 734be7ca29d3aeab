//go:build !linux

package serve

import (
	"os"
	"os/exec"
	"runtime/debug"
)

// MemoryEnforced says whether the system enforces the limit of memory.
const MemoryEnforced = false

// setLimits asks for what Go's runtime can do alone: to collect garbage rather
// than to grow. Nothing stops a process that needs more.
func setLimits(l Limits) error {
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	return nil
}

// peak is the largest memory that an ended process has had; 0: not known.
func peak(*os.ProcessState) int64 { return 0 }

// Harden keeps other processes of the same user from this one's memory, on Linux.
func Harden() error { return nil }

// bind has the system kill the process of a command when the server dies, on Linux.
func bind(*exec.Cmd) {}

// confine sets the walls of this process; this system has none.
func confine() (Walls, error) { return Walls{}, nil }

// close closes the walls; this system has none.
func (w *Walls) close(phase) error { return nil }
