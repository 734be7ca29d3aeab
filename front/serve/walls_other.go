//go:build !linux

package serve

import (
	"os"
	"os/exec"
	"runtime/debug"
)

// MemoryEnforced reports whether the system enforces the memory limit.
const MemoryEnforced = false

// setLimits only makes Go's runtime collect garbage when memory grows. Nothing stops a process that
// needs more.
func setLimits(l Limits) error {
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	return nil
}

// peak returns the maximum memory that an ended process has used; 0: not known.
func peak(*os.ProcessState) int64 { return 0 }

// Harden does nothing on this system. On Linux it protects this process's memory.
func Harden() error { return nil }

// bind does nothing on this system. On Linux it ties a process to its server's life.
func bind(*exec.Cmd) {}

// confine does nothing on this system, which has no walls.
func confine() (Walls, error) { return Walls{}, nil }

// close does nothing on this system, which has no walls.
func (w *Walls) close(phase) error { return nil }
