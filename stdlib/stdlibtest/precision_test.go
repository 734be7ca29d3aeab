package stdlibtest

import (
	"math"
	"strings"
	"testing"
)

// precisionFile is the output of testdata/golden/precision.py, which uses mpmath.
const precisionFile = "testdata/golden/precision.txt"

// TestPrecision checks derivatives with respect to large precisions and degrees of freedom. Their
// relative error may be 1e-9. For a log mass it may be 1e-14 of the terms in its expansion for
// large φ, which are of the size of (n+μ)²/φ².
func TestPrecision(t *testing.T) {
	names, byName := readSweep(t, precisionFile)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := byName[name]
			d, err := r.f.declaration()
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for _, p := range r.points {
				c, err := r.f.at(d, p, 1)
				if err != nil {
					t.Fatal(err)
				}
				n, mu, phi := p.args[0], p.args[1], p.args[2]
				if name == "neg_binomial_2_log_lpmf" {
					mu = math.Exp(mu)
				}
				terms := 0.0
				if strings.HasSuffix(name, "_lpmf") {
					terms = (n + mu) * (n + mu + 1) / phi / max(1, phi)
				}
				for i, want := range p.grad {
					got := c.grad[i]
					if terms > 0 && i == 0 {
						continue // these are in TestSweep
					}
					e := math.Abs(got - want)
					if !(e <= max(1e-9*math.Abs(want), 1e-14*terms, 1e-300)) {
						t.Errorf("%v: derivative %d is %v, want %v", p.args, i+1, got, want)
					} else if e > 0 {
						worst = max(worst, min(e/math.Abs(want), e/terms))
					}
				}
				if e := math.Abs(c.value - p.want); !(e <= max(1e-12*math.Abs(p.want), 1e-14*c.addends)) {
					t.Errorf("%v: %v, want %v", p.args, c.value, p.want)
				}
			}
			t.Logf("worst error %.0e, relative or of the terms", worst)
		})
	}
}
