//go:build race

// Package race reports whether the race detector is on. With it a program takes many times the
// memory and the time, and allocates more.
package race

// Enabled reports whether the race detector is on.
const Enabled = true
