package serve

import (
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/ppl-lang/ppl/internal/race"
	"golang.org/x/sys/unix"
)

// MemoryEnforced reports whether the system enforces the memory limit.
const MemoryEnforced = !race.Enabled

// setLimits makes the system enforce limits on this process. A second call can only lower them.
func setLimits(l Limits) error {
	// Collect more garbage before allocation fails.
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	cpu := uint64(l.Seconds+5) * uint64(runtime.NumCPU())
	for _, wall := range []struct {
		resource int
		limit    uint64
	}{
		// Writable memory, whether touched or not. RLIMIT_AS would also count addresses that Go's
		// runtime only reserves.
		{unix.RLIMIT_DATA, uint64(l.Memory)},
		{unix.RLIMIT_CPU, cpu}, // of all threads together
		{unix.RLIMIT_CORE, 0},  // a dump would contain the data
		{unix.RLIMIT_FSIZE, 0}, // it writes to pipes alone
		// No more files or connections can be opened. The open pipes stay.
		{unix.RLIMIT_NOFILE, 0},
	} {
		if wall.resource == unix.RLIMIT_DATA && !MemoryEnforced {
			continue
		}
		// Use Prlimit, the only such call that the filter allows.
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

// peak returns the maximum memory that an ended process has used.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
