//go:build linux || darwin || freebsd

package native

// flush does nothing: on amd64, instruction caches see data that are written.
func flush(_, _ uintptr) {}
