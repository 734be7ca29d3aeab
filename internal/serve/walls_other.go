//go:build !linux

package serve

import (
	"os"
	"runtime/debug"
)

// MemoryEnforced says whether the system enforces the limit of memory.
const MemoryEnforced = false

// setWalls asks for what Go's runtime can do alone: to collect garbage rather
// than to grow. Nothing stops a process that needs more.
func setWalls(l Limits) error {
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	return nil
}

// peak is the largest memory that an ended process has had; 0: not known.
func peak(*os.ProcessState) int64 { return 0 }
