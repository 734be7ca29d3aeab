package nuts

import (
	"context"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestAgainstStan checks that warm-up and sampling together behave like Stan's. On
// eight_schools_noncentered four chains of Stan 2.32.2 ended with step sizes .425, .375, .445,
// .448. They took 8.47, 10.94, 8.71, 7.59 leapfrogs per draw after warm-up, and 10.43, 8.93, 9.41,
// 10.47 in it. The bands are these means ± three standard errors of the mean of four.
func TestAgainstStan(t *testing.T) {
	s, err := infer.NewSession(infertest.EightSchools{}, infer.Config{Sampler: Sampler{}, Chains: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	accept := 0.0
	for d, err := range s.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		accept += d.Stats.AcceptStat / 20000
	}
	var eps, sampling, warm, divergences float64
	for _, c := range s.Report().Chains {
		eps += c.StepSize / 20
		sampling += float64(c.Sampling.Gradients) / 20000
		warm += float64(c.Warmup.Gradients) / 20000
		divergences += float64(c.Sampling.Divergences) / 20
	}
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		{"step size", eps, 0.423, 0.05},
		{"leapfrogs per draw", sampling, 8.93, 2.1},
		{"gradients per transition of warm-up", warm, 9.81, 1.2},
		{"mean acceptance", accept, 0.89, 0.03},
		{"divergences per chain", divergences, 0.25, 1.5},
	} {
		if !(math.Abs(c.got-c.want) <= c.tol) {
			t.Errorf("%s: %.3f, Stan has %v ± %v", c.what, c.got, c.want, c.tol)
		}
		t.Logf("%s: %.3f (Stan %v)", c.what, c.got, c.want)
	}
}
