package compile_test

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// The plain interpreter makes a graph for each call of a function: with the usual settings the
// garbage collector, and the profile of memory that it keeps, take 40 % of the processor time of
// these tests.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.memprofile").Value.String() == "" {
		runtime.MemProfileRate = 0
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
