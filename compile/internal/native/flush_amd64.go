//go:build linux || darwin || freebsd

package native

// flush has nothing to do: caches of instructions follow those of data.
func flush(_, _ uintptr) {}
