// Package short shortens long tests. Under go test -short, a package runs one case of each kind, in
// seconds.
package short

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/ppl-lang/ppl/internal/planted"
)

// Skip skips a test under go test -short. Use it if a faster test covers the same subject. why
// states what takes long, and which test remains.
func Skip(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: " + why)
	}
}

// Of returns long, or n under go test -short. Use it for tests in which a part of the cases finds
// most faults.
func Of(long, n int) int {
	if testing.Short() {
		return n
	}
	return long
}

// Every returns the cases, or under go test -short the first of every k.
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

// Main is the body of a TestMain: it calls Tune, runs the tests and calls Report if one has failed.
func Main(m *testing.M) {
	flag.Parse()
	Tune()
	if m.Run() != 0 {
		Report()
	}
}

// Tune makes panics of the compiler fail tests, also in processes that they start. It lets the
// garbage collector run less often, and switches the memory profile off unless the
// command line asks for one. Tests make many small programs and graphs; with the default settings,
// the collector takes up to 40 % of their processor time.
func Tune() {
	if f := flag.Lookup("test.memprofile"); f == nil || f.Value.String() == "" {
		runtime.MemProfileRate = 0
	}
	os.Setenv(planted.Panics, "1")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
