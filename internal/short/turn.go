package short

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// This file: tests with many cases of a kind, which take turns. Another part of them runs each day.

// Variable is the environment variable that selects the parts of tests that take turns: "all", or
// the number of a day.
const Variable = "PPL_TEST_PART"

// chosen returns the part of this process, the number in Variable or else that of the day, and
// whether all parts run. Variable is read by the first test that asks: go test notes the variables
// that tests read and has other results for other values, but only from when the tests begin.
var chosen = sync.OnceValues(func() (today int, all bool) { return part(os.Getenv(Variable), time.Now()) })

// turned is whether a test of this process has left out a part.
var turned atomic.Bool

func part(text string, now time.Time) (today int, all bool) {
	if text == "all" {
		return 0, true
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n, false
	}
	return int(now.Unix() / (24 * 60 * 60)), false
}

// Turn reports whether case i of a test is due: one of every k cases is, another one each day. Use
// it if a case takes long, any of them finds most faults, and only all together find rare ones.
// Under go test -short all are due, since [Of], [Every] and [Skip] leave out most already.
func Turn(i, k int) bool {
	if today, all := chosen(); all || testing.Short() || (i-today)%k == 0 {
		return true
	}
	turned.Store(true)
	return false
}

// Turns returns the cases that are due, or under go test -short the first of every k.
func Turns[T any](k int, cases []T) (due []T) {
	for i, c := range Every(k, cases) {
		if Turn(i, k) {
			due = append(due, c)
		}
	}
	return due
}

// Report says after tests that have failed how to run the same parts again.
func Report() {
	if today, _ := chosen(); turned.Load() {
		fmt.Fprintf(os.Stderr, "Some tests ran one part of their cases. %s=%d runs the same part again, %[1]s=all runs all.\n", Variable, today)
	}
}
