package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestRun checks that a complete run writes its table between the markers.
func TestRun(t *testing.T) {
	short.Skip(t, "it measures a workload for 10 s of processor time; TestConclude and TestHistory are left")
	beginMarker, endMarker := section.Markers()
	file := filepath.Join(t.TempDir(), "engine.md")
	if err := os.WriteFile(file, []byte("before\n"+beginMarker+"\nold\n"+endMarker+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "bounds.md")
	if err := run([]string{"--only", "^eight_schools$", "--rounds", "1", "--write", file, "--bounds", other}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	bounded, err := os.ReadFile(other)
	if err != nil || !strings.Contains(string(bounded), "% | latency: half are an exponential") {
		t.Errorf("the other file is (%v):\n%s", err, bounded)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	if !strings.HasPrefix(s, "before\n"+beginMarker+"\n") || !strings.HasSuffix(s, endMarker+"\nafter\n") || strings.Contains(s, "old") {
		t.Errorf("the file is now:\n%s", s)
	}
	for _, want := range []string{"| eight_schools | 8 groups, non-centred | 10 |", "Misses"} {
		if strings.Count(s, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, s)
		}
	}
}

// TestHistory checks that each run appends a line to the history.
func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	for i := range 2 {
		r := report{Date: "2026-01-01", Load: "0.10 0.20 0.30", Rounds: 3, Rows: []row{{Name: "a", FastNS: 100, ByHandNS: 50}, {Name: "b", FastNS: 200}}}
		r.conclude()
		if err := r.appendTo(file, "v"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil || strings.Count(string(text), "\n") != i+1 || strings.Count(string(text), `"fast_ns":{"a":100,"b":200}`) != i+1 || !strings.Contains(string(text), `"version":"v"`) || !strings.Contains(string(text), `"load":"0.10 0.20 0.30"`) {
			t.Errorf("after %d runs (%v):\n%s", i+1, err, text)
		}
	}
}

func TestConclude(t *testing.T) {
	r := report{Rows: []row{
		{Name: "good", FastNS: 100, ByHandNS: 80, StanNS: 700},
		{Name: "little to gain", FastNS: 100, ByHandNS: 80, StanNS: 400},
		{Name: "little to gain by hand and far from it", FastNS: 160, ByHandNS: 100, StanNS: 640},
		{Name: "below the bar, much to gain", FastNS: 100, ByHandNS: 60, StanNS: 490},
		{Name: "below the bar, without a gradient by hand", FastNS: 100, StanNS: 490},
		{Name: "slower than by hand", FastNS: 260, ByHandNS: 100, StanNS: 260 * 10},
		{Name: "fast alone", FastNS: 100},
	}}
	r.conclude()
	var missing []string
	for _, m := range r.Missing {
		missing = append(missing, m.Name)
	}
	want := []string{"little to gain by hand and far from it", "below the bar, much to gain", "below the bar, without a gradient by hand", "slower than by hand"}
	if !slices.Equal(missing, want) {
		t.Errorf("misses: %q, want %q", missing, want)
	}
	if want := math.Pow(7*4*4*4.9*4.9*10, 1.0/6); r.Stan.Count != 6 || math.Abs(r.Stan.Ratio-want) > 1e-12 {
		t.Errorf("Stan ÷ fast: %+v, want %v of 6", r.Stan, want)
	}
	if want := math.Pow(1.25*1.25*1.6/0.6*2.6, 0.2); r.ByHand.Count != 5 || math.Abs(r.ByHand.Ratio-want) > 1e-12 {
		t.Errorf("fast ÷ by hand: %+v, want %v of 5", r.ByHand, want)
	}
}

func TestStanTimes(t *testing.T) {
	call := func(cycle float64, byPoint ...float64) stanOutput {
		o := stanOutput{Points: make([]stanPoint, 2), ByPoint: byPoint}
		o.GradNS.CPUMin = cycle
		return o
	}
	var s stanTimes
	for _, step := range []struct {
		o    stanOutput
		want float64
	}{{call(100, 120, 140), 100}, {call(110, 90, 150), 100}, {call(130, 95, 80), 85}, {call(70), 70}} {
		if got := s.add(step.o); got != step.want {
			t.Errorf("after %v: %v, want %v", step.o, got, step.want)
		}
	}
}

// TestBounds checks that exactly the existing workloads have a bound.
func TestBounds(t *testing.T) {
	names := map[string]bool{}
	for _, w := range benchsuite.All() {
		names[w.Name] = true
		if bounds[w.Name].What == "" {
			t.Errorf("nothing is said of what bounds %s", w.Name)
		}
	}
	for name := range bounds {
		if !names[name] {
			t.Errorf("bounds has %q, which is no workload", name)
		}
	}
}
