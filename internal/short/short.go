// Package short is for tests that take long. Under go test -short a package keeps one case of
// each kind, in seconds.
package short

import "testing"

// Skip skips a test under go test -short if a faster test covers its subject; why says what takes
// long, and what is left.
func Skip(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: " + why)
	}
}

// Of is long, and n under go test -short: for tests in which a part finds most faults.
func Of(long, n int) int {
	if testing.Short() {
		return n
	}
	return long
}

// Every is the cases, and under go test -short the first of every k of them.
func Every[T any](k int, cases []T) []T {
	if !testing.Short() {
		return cases
	}
	var some []T
	for i := 0; i < len(cases); i += k {
		some = append(some, cases[i])
	}
	return some
}
