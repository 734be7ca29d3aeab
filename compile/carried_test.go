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

// TestNarrowLoops compares the evaluators on particles that are drawn to their mean, with as many
// steps and particles as decide whether the steps are unrolled, and one more or fewer.
func TestNarrowLoops(t *testing.T) {
	const text = `data { int T, P; vector[T] y; matrix[P, T] noise; }
parameters { real<lower=-1, upper=1> phi; real<lower=0> step; vector[P] z; }
model {
  vector[P] x = z;
  for (t in 1:T) {
    real m = mean(x);
    vector[P] weight;
    for (p in 1:P) {
      x[p] = phi * x[p] + 0.1 * m + step * noise[p, t];
      weight[p] = normal_lpdf(y[t] | x[p], 1);
    }
    target += log_sum_exp(weight);
  }
  z ~ normal(0, 1);
  step ~ exponential(1);
}`
	for i, size := range [][2]int{{0, 40}, {1, 40}, {2, 40}, {20, 1}, {20, 31}, {20, 32}, {1024, 32}, {1025, 32}} {
		steps, width := size[0], size[1]
		if steps > 100 && !short.Turn(i, 4) {
			continue
		}
		y, noise := make([]float64, steps), make([][]float64, width)
		for k := range y {
			y[k] = float64(k%7) / 7
		}
		for p := range noise {
			noise[p] = make([]float64, steps)
			for k := range noise[p] {
				noise[p][k] = float64((p*p+3*k)%11)/11 - 0.5
			}
		}
		raw, err := json.Marshal(map[string]any{"T": steps, "P": width, "y": y, "noise": noise})
		if err != nil {
			t.Fatal(err)
		}
		set, err := data.ParseJSON("data.json", raw)
		if err != nil {
			t.Fatal(err)
		}
		if rep := contest.Contend(text, "particles", set, 1, 2); rep.Wrong != nil {
			t.Errorf("%d steps of %d: %v", steps, width, rep.Wrong)
		}
	}
}

// TestSharedArguments checks a scan whose steps change an array element by element, and use all of
// it for each. Its nodes share arguments, so it has many more paths than nodes.
func TestSharedArguments(t *testing.T) {
	const text = `data { int T, P; }
parameters { real a; vector[P] z; }
model {
  vector[P] x = z;
  for (t in 1:T) {
    for (p in 1:P) x[p] += 0.1 * a * (mean(x) - x[p]);
    target += -square(x[1]);
  }
}`
	set, err := data.ParseJSON("data.json", []byte(`{"T": 8, "P": 32}`))
	if err != nil {
		t.Fatal(err)
	}
	if rep := contest.Contend(text, "shared", set, 1, 2); rep.Wrong != nil || rep.Compared == 0 {
		t.Errorf("%d points compared: %v", rep.Compared, rep.Wrong)
	}
}
