//go:build race

package short

// Race reports whether the race detector is on. It makes allocations and takes time itself.
const Race = true
