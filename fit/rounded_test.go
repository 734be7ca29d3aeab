package fit_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// tight has parameters that suffer first when digits are lost: values that lie close together, far
// from zero, or next to a bound.
const tight = `
parameters {
  ordered[3] c;
  positive_ordered[2] o;
  corr_matrix[3] R;
  cov_matrix[2] S;
  cholesky_factor_corr[2] L;
  cholesky_factor_cov[2] F;
  simplex[4] s;
  unit_vector[3] u;
  sum_to_zero_vector[3] z;
  real<lower=0, upper=1> p;
  real m;
  real<lower=m> above;
}
generated quantities {
  real location = m - 1.7e9;
  real log_q = log1m(p);
  real within = above > m;
  real gap = c[3] - c[1];
}
`

// TestRounded checks that a run keeps its draws to the last bit, so that quantities computed from
// its folder equal those of the run. If a file has fewer digits, no draw may be lost because
// rounding breaks a constraint, and computed quantities must be as accurate as the digits allow.
func TestRounded(t *testing.T) {
	model, err := model.Compile("tight", tight)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Unconstrained points at which differences are about 1e-3 at 1e6, or 1e-9 at 1.
	at := infer.At{}
	for chain := range 20 {
		x := make([]float64, p.Dim())
		for i, name := range p.Compiled().UnconstrainedNames() {
			x[i] = math.Sin(float64(7*chain + 3*i))
			switch name {
			case "c.1":
				x[i] += 1e6
			case "c.2", "c.3", "above":
				x[i] -= 7
			case "o.1", "o.2":
				x[i] = []float64{13, -7}[i%2] + x[i]
			case "R.1", "R.2", "R.3", "L.1":
				x[i] += 10
			case "S.3":
				x[i] -= 10
			case "z.1", "z.2":
				x[i] *= 1e9
			case "p":
				x[i] += 20
			case "m":
				x[i] += 1.7e9
			}
		}
		at.Positions = append(at.Positions, x)
	}
	for _, digits := range []int{0, 17, 8, 6} {
		dir := t.TempDir()
		f, err := fit.Sample(context.Background(), p, fit.Options{Sampler: sampler.Fixed{}, Init: at, Chains: len(at.Positions), Draws: 2, Seed: 1,
			Output: filepath.Join(dir, "m"), SigFigs: digits})
		if err != nil {
			t.Fatal(err)
		}
		again, err := fit.ReadCSV(f.Files...)
		if err != nil {
			t.Fatal(err)
		}
		for chain := range at.Positions {
			_, want := f.Draws.Draw(chain, 0)
			_, got := again.Draws.Draw(chain, 0)
			for i, v := range want {
				error := 0.0
				if digits > 0 && digits < 17 {
					error = 0.5 * math.Pow(10, float64(1-digits)) * math.Abs(v)
				}
				if math.Abs(got[i]-v) > error {
					t.Errorf("%d digits: %s is %v, read back as %v", digits, f.Names()[i], v, got[i])
				}
			}
		}
		made, err := fit.Generate(context.Background(), p, again, fit.GenerateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if made.Failed > 0 {
			t.Errorf("%d digits: %d draws are lost: %v", digits, made.Failed, made.Reason)
			continue
		}
		names := f.Names()
		for chain := range at.Positions {
			_, values := made.Draws.Draw(chain, 0)
			_, all := f.Draws.Draw(chain, 0)
			want := all[len(names)-len(values):]
			rounding := 0.5 * math.Pow(10, float64(1-digits))
			for i, v := range values {
				tolerance := []float64{2e9 * rounding, math.Inf(1), 0, 4e6 * rounding}[i]
				switch {
				case i == 1 && digits == 8: // 1 - p is about 2e-9, and below 5e-9 p is written as 1
					tolerance = 2
				case i == 1 && digits != 6: // 1 - p has the rounding error of a number near 1
					tolerance = 1e-6
				case digits == 0 || digits == 17:
					tolerance = 1e-9 * (1 + math.Abs(v))
				}
				if !(math.Abs(v-want[i]) <= tolerance) {
					t.Errorf("%d digits: %s is %v, want %v", digits, p.GeneratedNames()[i], v, want[i])
				}
			}
		}
	}
}
