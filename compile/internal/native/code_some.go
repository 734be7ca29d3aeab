//go:build (amd64 || arm64) && (linux || darwin || freebsd || windows)

package native

// Supported reports whether there may be machine code.
const Supported = true
