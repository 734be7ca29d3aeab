package serve

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// MemoryEnforced says whether the system enforces the limit of memory.
const MemoryEnforced = !raceDetector

// setWalls makes the system enforce limits on this process. They can be set again
// if they are lower.
func setWalls(l Limits) error {
	// What the runtime opens for itself when it first waits for a pipe or a timer,
	// it must have opened before the walls are set.
	r, w, err := os.Pipe()
	if err == nil {
		err = errors.Join(r.Close(), w.Close())
	} else if errors.Is(err, unix.EMFILE) { // the walls stand already
		err = nil
	}
	if err != nil {
		return err
	}
	// Collect garbage rather than fail, as long as that helps.
	debug.SetMemoryLimit(l.Memory / 8 * 7)
	cpu := uint64(l.Seconds+5) * uint64(runtime.NumCPU())
	for _, wall := range []struct {
		resource int
		limit    uint64
	}{
		// Writable memory of its own, whether it is touched or not. RLIMIT_AS would
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
		var now unix.Rlimit
		if err := unix.Getrlimit(wall.resource, &now); err != nil {
			return err
		}
		limit := min(wall.limit, now.Max)
		if err := unix.Setrlimit(wall.resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
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
