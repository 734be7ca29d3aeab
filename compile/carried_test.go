package compile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestCarriedArrays compares the evaluators on loops that carry arrays from one iteration to the
// next. Some arrays are short. Others are so long that loops are not unrolled and delays are not
// kept in registers.
func TestCarriedArrays(t *testing.T) {
	files, err := filepath.Glob("testdata/carried/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		long := short.Of(260, 60)
		switch filepath.Base(file) {
		case "alignment.model", "triangle.model", "successes.model", "backwards.model":
			long = short.Of(26, 13) // tables of so many rows
		case "convolution.model":
			long = short.Of(80, 30) // without any lanes, the unrolled loop takes seconds to bind
		}
		for _, n := range []int{1, 2, 3, long} {
			if n == long && !short.Turn(i, 3) {
				continue
			}
			y, g := make([]float64, n), make([]int, n)
			for i := range y {
				y[i], g[i] = float64(i%7)/7, 1+i*i%5
			}
			raw, err := json.Marshal(map[string]any{"n": n, "y": y, "g": g})
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ParseJSON("data.json", raw)
			if err != nil {
				t.Fatal(err)
			}
			if rep := contest.Contend(string(text), file, set, 1, 2); rep.Wrong != nil {
				t.Errorf("%s, n = %d: %v", file, n, rep.Wrong)
			}
		}
	}
}
