package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchProcessors checks that times with several processors come with those of one by the same
// clock, and that the ratio is theirs.
func TestBenchProcessors(t *testing.T) {
	const model = "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n"
	path := filepath.Join(t.TempDir(), "m.stan")
	if err := os.WriteFile(path, []byte(model), 0o666); err != nil {
		t.Fatal(err)
	}
	l, xs, err := (&pointed{random: 1}).load(t.Context(), path, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{1, 2} {
		got, err := measure(t.Context(), l.posterior, xs, processors)
		if err != nil {
			t.Fatal(err)
		}
		if clock := map[bool]string{false: "processor", true: "wall"}[processors > 1]; got.Clock != clock {
			t.Errorf("%d processors: the clock is %s, not %s", processors, got.Clock, clock)
		}
		if (got.OneProcessor != nil) != (processors > 1) {
			t.Errorf("%d processors: times of one processor: %v", processors, got.OneProcessor)
		}
	}
	two := timings{Clock: "wall", batchTimes: batchTimes{MinNS: 200, MedianNS: 250}, OneProcessor: &batchTimes{MinNS: 300, MedianNS: 500}}
	var text strings.Builder
	two.print(&text, 2)
	for _, want := range []string{"wall-clock time", "with one processor: 300 ns", "speed-up by 2 processors: 1.5 fastest batch, 2 median batch"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(ended, l.posterior, xs, 2); err == nil {
		t.Error("measure goes on after its context has ended")
	}
}
