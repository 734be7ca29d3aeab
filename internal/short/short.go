// Package short is for tests that take long.
package short

import "testing"

// Skip skips a test under go test -short, where its subject is tested in less time as well; why
// says what takes long, and what is left.
func Skip(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: " + why)
	}
}

// Of is long, and n under go test -short: for tests of which a part sees most faults.
func Of(long, n int) int {
	if testing.Short() {
		return n
	}
	return long
}
