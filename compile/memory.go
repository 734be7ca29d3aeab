package compile

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// DefaultStatements is how many statements may be evaluated while a model is bound,
// unless BindOptions say otherwise: minutes of work.
const DefaultStatements = 1_000_000_000

// unknownMemory is half of what a machine is taken to have that does not tell.
const unknownMemory = 4 << 30

// DefaultMemory is half of the memory that the machine has, or that the control group of
// the process may use, in bytes; 4 GiB where that is not known (other systems than
// Linux).
func DefaultMemory() int64 {
	total := int64(math.MaxInt64)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(file); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				total = min(total, n)
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if n, ok := memTotal(string(text)); ok {
			total = min(total, n)
		}
	}
	if total == math.MaxInt64 {
		return unknownMemory
	}
	return total / 2
}

// memTotal finds the line "MemTotal: 16318940 kB".
func memTotal(text string) (bytes int64, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}
