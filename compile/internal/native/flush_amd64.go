//go:build linux || darwin || freebsd

package native

// flush does nothing: instruction caches follow data caches.
func flush(_, _ uintptr) {}
