package compile

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// DefaultStatements is the default limit on the number of statements evaluated while a model is
// bound. This is minutes of work. BindOptions.Statements changes it.
const DefaultStatements = 1_000_000_000

// unknownMemory is the default limit for machines whose memory size is not known.
const unknownMemory = 4 << 30

// DefaultMemory returns half of the memory, in bytes, that the machine has, or that limits on the
// process or its control group allow. It returns 4 GiB if the amount is not known, as on systems
// other than Linux.
func DefaultMemory() int64 {
	total := int64(math.MaxInt64)
	for _, file := range append(groupLimits(), "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes") {
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
	if text, err := os.ReadFile("/proc/self/limits"); err == nil {
		if n, ok := addressLimit(string(text)); ok {
			total = min(total, n)
		}
	}
	if total == math.MaxInt64 {
		return unknownMemory
	}
	return total / 2
}

// MemoryOr returns limit or, if it is 0, [DefaultMemory], which takes some system calls.
func MemoryOr(limit int64) int64 {
	if limit != 0 {
		return limit
	}
	return DefaultMemory()
}

// groupLimits returns the files with the memory limits of the process's control group and of all
// groups that contain it.
func groupLimits() (files []string) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		folder, file := "/sys/fs/cgroup", "memory.max"
		if f[1] == "memory" { // version 1 of control groups
			folder, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if f[1] != "" {
			continue
		}
		for group := path.Clean("/" + f[2]); group != "/"; group = path.Dir(group) {
			files = append(files, path.Join(folder, group, file))
		}
	}
	return files
}

// addressLimit finds the line "Max address space  8589934592  unlimited  bytes", which
// ulimit -v sets.
func addressLimit(text string) (bytes int64, ok bool) {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, "Max address space"); found {
			n, err := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
			return n, err == nil && n > 0
		}
	}
	return 0, false
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
