package compile_test

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMain changes settings of the garbage collector. The plain interpreter makes a graph for each
// call of a function. With the default settings, the collector and its memory profile take 40 % of
// the processor time of these tests.
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
