package assess_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

// printing is a model that prints wherever it is evaluated; the caller's function receives the
// output.
const printing = `
data { int N; vector[N] y; }
parameters { real mu; }
model { print("model"); mu ~ normal(0, 1); y ~ normal(mu, 1); }
generated quantities { vector[N] log_lik; print("generated"); for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu, 1); }`

// broken is a density with a programming error.
type broken struct{}

func (broken) Dim() int                                       { return 2 }
func (broken) LogDensityGrad(x, g []float64) (float64, error) { panic("planted") }
func (b broken) CloneDensity() infer.LogDensity               { return b }

// TestPanics checks that a panic in code of the caller becomes an error of the call, in whichever
// goroutine it happens. It must not end the program.
func TestPanics(t *testing.T) {
	t.Setenv("PPL_PANICS", "") // as for users: the reference evaluator repeats what the model prints
	ctx := context.Background()
	var on atomic.Bool
	m, err := model.Compile("printing.model", printing)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.BindContext(ctx, map[string]any{"N": 3, "y": []float64{1, 2, 30}}, model.BindOptions{MaxPrint: math.MaxInt, Print: func(string) {
		if on.Load() {
			panic("planted")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(ctx, p, fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Warmup: 100, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	rng := func() *rand.Rand { return infer.Stream(1, 0, "test", 0) }
	start := []float64{0, 0}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Sample", func() error {
			_, err := fit.Sample(ctx, p, fit.Options{Seed: 1, Warmup: 10, Draws: 10})
			return err
		}},
		{"Generate", func() error { _, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Parallel: 2}); return err }},
		{"Generate with Each", func() error {
			_, err := fit.Generate(ctx, quiet(t, m), f, fit.GenerateOptions{Parallel: 2, Each: func(int, int, []float64) error { panic("planted") }})
			return err
		}},
		{"MatchMoments", func() error {
			on.Store(false)
			l, err := assess.LogLikOf(ctx, f, assess.LogLikOptions{})
			if err != nil {
				return err
			}
			r, err := l.LOO(ctx, 0)
			if err != nil {
				return err
			}
			on.Store(true)
			_, err = l.MatchMoments(ctx, r, []int{0, 1, 2}, nil)
			return err
		}},
		{"Maximize", func() error { _, err := optimize.Maximize(ctx, broken{}, start, optimize.Options{}); return err }},
		{"Laplace", func() error {
			_, err := optimize.Laplace(ctx, broken{}, start, rng(), optimize.LaplaceOptions{})
			return err
		}},
		{"Pathfinder", func() error { _, err := optimize.Pathfinder(ctx, broken{}, optimize.PathfinderOptions{}); return err }},
		{"FollowPath", func() error {
			_, err := optimize.FollowPath(ctx, broken{}, start, rng(), optimize.PathOptions{})
			return err
		}},
		{"Variational", func() error {
			_, err := optimize.Variational(ctx, broken{}, start, rng(), optimize.VariationalOptions{})
			return err
		}},
		{"FindTypical", func() error { _, err := optimize.FindTypical(ctx, broken{}, start, rng(), 100, nil); return err }},
		{"FindTop", func() error {
			_, err := optimize.FindTop(ctx, broken{}, start, 100, func([]float64, float64) bool { return false })
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			on.Store(true)
			defer on.Store(false)
			err := c.run()
			var p *infer.PanicError
			if !errors.As(err, &p) || p.Value != "planted" || !strings.Contains(string(p.Stack), "panic_test.go") {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), "goroutine") || strings.Contains(err.Error(), ".go") {
				t.Errorf("the text is %q", err)
			}
		})
	}
}

// quiet binds the model so that it prints nothing.
func quiet(t *testing.T, m *model.Model) *model.Posterior {
	p, err := m.Bind(map[string]any{"N": 3, "y": []float64{1, 2, 30}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
