//go:build linux && !amd64 && !arm64

package serve

// architecture is the kernel's name of this architecture in filters; 0: not supported.
const architecture = 0
