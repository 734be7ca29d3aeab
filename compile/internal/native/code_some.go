//go:build (amd64 || arm64) && (linux || darwin || freebsd || windows)

package native

// Supported reports whether machine code can be generated.
const Supported = true
