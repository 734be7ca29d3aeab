package serve

import (
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// MemoryEnforced says whether the system enforces the limit of memory.
const MemoryEnforced = !raceDetector

// setLimits makes the system enforce limits on this process. They can be set again
// if they are lower.
func setLimits(l Limits) error {
	// Collect garbage rather than fail, as long as that helps.
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	cpu := uint64(l.Seconds+5) * uint64(runtime.NumCPU())
	for _, wall := range []struct {
		resource int
		limit    uint64
	}{
		// Its writable memory, whether it is touched or not. RLIMIT_AS would
		// count addresses that Go's runtime only sets aside, too.
		{unix.RLIMIT_DATA, uint64(l.Memory)},
		{unix.RLIMIT_CPU, cpu}, // of all threads together
		{unix.RLIMIT_CORE, 0},  // a dump would hold the data
		{unix.RLIMIT_FSIZE, 0}, // it writes to pipes alone
		// Neither files nor connections are opened any more; those that are open,
		// the pipes, stay.
		{unix.RLIMIT_NOFILE, 0},
	} {
		if wall.resource == unix.RLIMIT_DATA && !MemoryEnforced {
			continue
		}
		// Prlimit alone, as the filter of system calls knows no other.
		var now unix.Rlimit
		if err := unix.Prlimit(0, wall.resource, nil, &now); err != nil {
			return err
		}
		limit := min(wall.limit, now.Max)
		if err := unix.Prlimit(0, wall.resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return err
		}
	}
	return nil
}

// peak is the largest memory that an ended process has had.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
