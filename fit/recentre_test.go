package fit_test

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/model"
)

const schoolsCentred = `data { int J; vector[J] y, s; } parameters { real mu; real<lower=0> tau; vector[J] theta; }
	model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, s); }`

func schools(t *testing.T) *model.Posterior {
	return bind(t, schoolsCentred, map[string]any{"J": 8, "y": []float64{28, 8, -3, 7, -1, 1, 18, 12}, "s": []float64{15, 10, 16, 11, 9, 11, 10, 18}})
}

// TestRecentredDraws checks that recentring is invisible to users: lp__, values and positions must
// be those of the model as written.
func TestRecentredDraws(t *testing.T) {
	p := schools(t)
	for _, how := range []string{"off", "0", "0.3", "1", "learn"} {
		session, err := infer.NewSession(p, infer.Config{Sampler: auto.Sampler{Recentre: how}, Seed: 4, Chains: 2, Warmup: 100, Draws: 20, SaveWarmup: true})
		if err != nil {
			t.Fatal(err)
		}
		grad, values := make([]float64, p.Dim()), make([]float64, len(p.OutputNames()))
		for d, err := range session.Draws(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			lp, err := p.LogDensityGrad(d.Position, grad)
			if err != nil || math.Abs(lp-d.LogDensity) > 1e-12*(1+math.Abs(lp))*10 {
				t.Fatalf("%s: lp__ is %v, but the log density there is %v (%v)", how, d.LogDensity, lp, err)
			}
			if d.Warmup {
				continue
			}
			if err := p.Generate(d.Position, infer.Stream(1, 1, "test", 0), values); err != nil || !slices.Equal(values, d.Values) {
				t.Fatalf("%s: %v, not %v", how, d.Values, values)
			}
		}
		for _, c := range session.Report().Chains {
			x := slices.Clone(c.Last)
			if lp, err := p.LogDensityGrad(x, grad); err != nil || math.IsInf(lp, 0) || (how == "1" || how == "off") != (c.Recentring == nil) {
				t.Errorf("%s: the chain ends at %v in the coordinates %v (%v)", how, x, c.Recentring, err)
			}
		}
	}
}

// TestRecentredMoments checks that the centred model is sampled as well as the non-centred one. The
// expected moments come from numerical integration of the non-centred model over tau and mu.
func TestRecentredMoments(t *testing.T) {
	fit, err := fit.Sample(context.Background(), schools(t), fit.Options{Sampler: auto.Sampler{}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(fit.Report.Chains[0].Notes, " "); !strings.Contains(notes, "NUTS") || !strings.Contains(notes, "scales of effects may be 0") && !strings.Contains(notes, "too far from normal") {
		t.Errorf("trajectories of fixed length where tau may be 0: %s", notes)
	}
	mean, sd := schoolsByIntegration()
	for _, r := range fit.Summary() {
		for k, name := range []string{"mu", "tau"} {
			if r.Name == name && (math.Abs(r.Mean-mean[k]) > 5*sd[k]/math.Sqrt(r.ESSBulk) || r.ESSBulk < 400) {
				t.Errorf("%s has the mean %v with an ESS of %v, by integration %v", name, r.Mean, r.ESSBulk, mean[k])
			}
		}
	}
}

// schoolsByIntegration returns the means and standard deviations of mu and tau by numerical
// integration: given both, the effects have a closed-form integral.
func schoolsByIntegration() (mean, sd [2]float64) {
	y, s := []float64{28, 8, -3, 7, -1, 1, 18, 12}, []float64{15, 10, 16, 11, 9, 11, 10, 18}
	var z float64
	var first, second [2]float64
	for lt := -12.0; lt < 6; lt += 0.02 {
		tau := math.Exp(lt)
		for mu := -25.0; mu < 30; mu += 0.25 {
			l := -0.5*mu*mu/25 - math.Log1p(tau*tau/25) + lt
			for j := range y {
				v := s[j]*s[j] + tau*tau
				l -= 0.5*(y[j]-mu)*(y[j]-mu)/v + 0.5*math.Log(v)
			}
			w := math.Exp(l + 30)
			z += w
			for k, x := range []float64{mu, tau} {
				first[k] += w * x
				second[k] += w * x * x
			}
		}
	}
	for k := range mean {
		mean[k] = first[k] / z
		sd[k] = math.Sqrt(second[k]/z - mean[k]*mean[k])
	}
	return mean, sd
}

// TestManyTermsStart checks that chains with many group-level terms do not begin where their scale
// is near 0. There the density is flat, and a way back takes thousands of transitions.
func TestManyTermsStart(t *testing.T) {
	const text = `data { int J; array[J] int y; } parameters { real mu; real<lower=0> tau; vector[J] z; }
		model { mu ~ normal(0, 2); tau ~ normal(0, 1); z ~ normal(0, 1); y ~ poisson_log(mu + tau * z); }`
	for _, groups := range []int{31, 300, 1000} {
		rng := infer.Stream(6, 1, "terms", 0)
		y := make([]int, groups)
		for j := range y {
			y[j] = int(math.Exp(2 + 0.7*rng.NormFloat64()))
		}
		p := bind(t, text, map[string]any{"J": groups, "y": y})
		session, err := infer.NewSession(p, infer.Config{Sampler: auto.Sampler{}, Seed: 2, Chains: 12, Warmup: 16, Draws: 1})
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range session.Draws(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			// The posterior of tau is near 0.7, with a standard deviation of at most 0.15.
			if tau := math.Exp(d.Position[1]); tau < 0.1 {
				t.Errorf("%d groups: chain %d has tau = %.2g after 17 transitions", groups, d.Chain, tau)
			}
		}
	}
}

// TestRecentredResume checks that a run in other coordinates that was interrupted continues with
// exactly the same draws, and that another sampler can use what its warm-up has found.
func TestRecentredResume(t *testing.T) {
	whole, stopped := t.TempDir(), t.TempDir()
	options := fit.SnapshotAlways(fit.Options{Sampler: auto.Sampler{Recentre: "0.4"}, Chains: 2, Warmup: 100, Draws: 60, Seed: 5, SigFigs: 17, Refresh: 1, Output: filepath.Join(whole, "m"), Resumable: true})
	want, err := fit.Sample(context.Background(), schools(t), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Output = filepath.Join(stopped, "m")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	*fit.ProgressOf(&options) = func(p infer.Progress) {
		if !p.Warmup && p.Iteration >= p.Total-30 {
			cancel()
		}
	}
	if _, err := fit.Sample(ctx, schools(t), options); err == nil {
		t.Fatal("it was not interrupted")
	}
	*fit.ProgressOf(&options), options.Resume = nil, true
	got, err := fit.Sample(context.Background(), schools(t), options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Files {
		if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
			t.Errorf("%s differs", got.Files[i])
		}
	}
	text, err := json.Marshal(map[string]any{"chains": want.Report.Adapted()})
	if err != nil {
		t.Fatal(err)
	}
	adapted, err := infer.ParseAdapted("adapted.json", text)
	if err != nil {
		t.Fatal(err)
	}
	again := fit.Options{Sampler: nuts.Sampler{Adapt: warmup.Options{Metric: adapted[0].Metric.Kind}}, Chains: 1, Warmup: -1, Draws: 20, Seed: 5, StepSize: []float64{adapted[0].StepSize}, Metric: []infer.Metric{adapted[0].Metric}, Recentring: [][]float64{adapted[0].Recentring}}
	f, err := fit.Sample(context.Background(), schools(t), again)
	if err != nil || !slices.Equal(f.Report.Chains[0].Recentring, infer.Centred(0.4, 8)) {
		t.Errorf("%v", err)
	}
	other := bind(t, pair, nil)
	again.Metric = nil
	if _, err := fit.Sample(context.Background(), other, again); err == nil || !strings.Contains(err.Error(), "other coordinates") {
		t.Errorf("a target without effects: %v", err)
	}
}

// TestLearntResume checks the same for a run that learns its coordinates, wherever it is stopped:
// during warm-up, which is then repeated, during sampling, or in the resumed run.
func TestLearntResume(t *testing.T) {
	whole, stopped := t.TempDir(), t.TempDir()
	// With precise data on each effect, the best coordinates lie between the two ends.
	precise := func() *model.Posterior {
		return bind(t, schoolsCentred, map[string]any{"J": 8, "y": []float64{28, 8, -3, 7, -1, 1, 18, 12}, "s": []float64{1, 2, 3, 4, 5, 6, 7, 8}})
	}
	options := fit.SnapshotAlways(fit.Options{Chains: 2, Warmup: 300, Draws: 60, Seed: 5, SigFigs: 17, Refresh: 1, Output: filepath.Join(whole, "m"), Resumable: true})
	want, err := fit.Sample(context.Background(), precise(), options)
	if err != nil {
		t.Fatal(err)
	}
	if learnt := want.Report.Chains[0].Recentring; len(learnt) != 32 || slices.Min(learnt[8:16]) == 0 {
		t.Fatalf("nothing was learnt: %v", learnt)
	}
	options.Output = filepath.Join(stopped, "m")
	for _, of := range []struct {
		warmup bool
		count  int
	}{{true, 20}, {false, 15}, {false, 60}} {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		*fit.ProgressOf(&options) = func(p infer.Progress) {
			if p.Warmup == of.warmup {
				seen++
			}
			if seen >= of.count {
				cancel()
			}
		}
		_, err := fit.Sample(ctx, precise(), options)
		cancel()
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		options.Resume = true
	}
	*fit.ProgressOf(&options) = nil
	got, err := fit.Sample(context.Background(), precise(), options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Files {
		if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
			t.Errorf("%s differs", got.Files[i])
		}
	}
	for i, c := range got.Report.Chains {
		if !slices.Equal(c.Recentring, want.Report.Chains[i].Recentring) {
			t.Errorf("chain %d has the coordinates %v, not %v", c.ID, c.Recentring, want.Report.Chains[i].Recentring)
		}
	}
}

// TestRecentredWalk checks the scale of a random walk whose states are observed, in any
// coordinates. Expected values come from Kalman's filter on a grid of scales. The information that
// each observation has about its state is learnt from the draws.
func TestRecentredWalk(t *testing.T) {
	const text = `data { int T; vector[T] y; real e; } parameters { real<lower=0> s; vector[T] x; }
		model { s ~ normal(0, 1); x[1] ~ normal(0, 3); x[2:T] ~ normal(x[1:(T - 1)], s); y ~ normal(x, e); }`
	const n = 30
	for _, c := range []struct {
		e   float64
		how string
	}{{1, "learn"}, {1, "0.5"}, {0.02, "learn"}} {
		rng := infer.Stream(5, 1, "walk", 0)
		y, x := make([]float64, n), 0.0
		for i := range y {
			x += 0.3 * rng.NormFloat64()
			y[i] = x + c.e*rng.NormFloat64()
		}
		var weight, first, second float64
		for s := 0.001; s < 3; s += 0.002 {
			m, v, lp := 0.0, 9.0, -s*s/2
			for _, at := range y {
				f := v + c.e*c.e
				lp -= 0.5 * (math.Log(f) + (at-m)*(at-m)/f)
				m, v = m+v/f*(at-m), v*c.e*c.e/f+s*s
			}
			w := math.Exp(lp)
			weight, first, second = weight+w, first+w*s, second+w*s*s
		}
		mean := first / weight
		sd := math.Sqrt(second/weight - mean*mean)
		p := bind(t, text, map[string]any{"T": n, "y": y, "e": c.e})
		session, err := infer.NewSession(p, infer.Config{Sampler: auto.Sampler{Recentre: c.how}, Seed: 8, Chains: 4, Warmup: 400, Draws: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares, count float64
		for d, err := range session.Draws(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			v := math.Exp(d.Position[0])
			sum, squares, count = sum+v, squares+v*v, count+1
		}
		got := sum / count
		// There are at least about 400 effective draws; the limits are four of their standard
		// errors.
		if spread := math.Sqrt(squares/count - got*got); math.Abs(got-mean) > 0.2*sd || math.Abs(spread/sd-1) > 0.2 {
			t.Errorf("noise %v, %s: the scale is %.4f ± %.4f, by the filter %.4f ± %.4f", c.e, c.how, got, spread, mean, sd)
		}
		for k, v := range session.Report().Chains[0].Recentring {
			if precision := k / (n - 1); precision == 1 && c.how == "learn" && math.Abs(v*c.e*c.e-1) > 0.2 {
				t.Errorf("noise %v: the precision of an observation is taken to be %v", c.e, v)
			}
		}
		if of := session.Report().Chains[0].Recentring; len(of) != 4*(n-1) || c.how == "0.5" && !slices.Equal(of, infer.Centred(0.5, n-1)) {
			t.Errorf("noise %v, %s: %v", c.e, c.how, of)
		}
	}
}

// TestLearntEvidence checks the information about effects that is learnt from the draws. With
// normal data it must equal the information in these data, whatever else is added to the effects: a
// common intercept, the effects of other groups, or effects of effects. If only the sum of two
// groups is known, the location must move with the effects.
func TestLearntEvidence(t *testing.T) {
	const each = 6
	var g, h []int
	var y []float64
	rng := infer.Stream(9, 1, "evidence", 0)
	for i := range 10 {
		for k := range each {
			g, h, y = append(g, i+1), append(h, k+1), append(y, float64(i%4)+0.5*float64(k)+0.5*rng.NormFloat64())
		}
	}
	set := map[string]any{"n": len(y), "g": g, "h": h, "y": y}
	const head = `data { int n; array[n] int g, h; vector[n] y; } parameters { real m; real<lower=0> s, r; vector[10] a; vector[6] b; } model { m ~ normal(0, 5); s ~ normal(0, 2); r ~ normal(0, 2); `
	for name, of := range map[string]struct {
		text string
		want func(k int) float64 // the expected precision, for the elements of a, then b
		goes bool                // with the location
	}{
		"crossed": {head + `a ~ normal(0, s); b ~ normal(0, r); y ~ normal(m + a[g] + b[h], 0.5); }`, func(k int) float64 {
			if k < 10 {
				return each / 0.25
			}
			return 10 / 0.25
		}, false},
		"sums": {head + `a ~ normal(m, s); b ~ normal(-m, r); y ~ normal(a[g] + b[h], 0.5); }`, func(k int) float64 {
			if k < 10 {
				return each / 0.25
			}
			return 10 / 0.25
		}, true},
		"a constant": {head + `a ~ normal(m, s); b ~ normal(0, 1); y ~ normal(a[g], 0.5); }`, func(int) float64 { return each / 0.25 }, false},
	} {
		p := bind(t, of.text, set)
		session, err := infer.NewSession(p, infer.Config{Sampler: auto.Sampler{}, Seed: 8, Chains: 4, Warmup: 1000, Draws: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range session.Draws(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(strings.Join(session.Report().Chains[0].Notes, " "), "scales of effects may be 0") {
			t.Errorf("%s: it is said that scales may be 0: %v", name, session.Report().Chains[0].Notes)
		}
		got := session.Report().Chains[0].Recentring
		n := len(got) / 4
		if n != 16 && n != 10 {
			t.Fatalf("%s: %d effects", name, n)
		}
		mean := 0.0
		for k := range n {
			mean += math.Log(got[n+k]/of.want(k)) / float64(n)
			// b/(1+b) is how far an effect is centred if its scale is 1, as it is here, about.
			// Coordinates are not changed for evidence that alters this by less than 0.1.
			if b, want := got[n+k], of.want(k); math.Abs(b/(1+b)-want/(1+want)) > 0.1 {
				t.Errorf("%s: the precision for effect %d is %.3g, not %.3g", name, k+1, b, want)
			} else if !of.goes && math.Abs(math.Log(b/want)) > 0.6 { // about 300 draws: four standard errors of 10 to 20 %
				t.Errorf("%s: the precision for effect %d is %.3g, not %.3g", name, k+1, b, want)
			}
			if f := got[3*n+k] / got[n+k]; of.goes != (f > 0.5) {
				t.Errorf("%s: what the data tell of effect %d goes with its location by %.3g", name, k+1, f)
			}
		}
		if !of.goes && math.Abs(mean) > 0.2 {
			t.Errorf("%s: the precisions are off by a factor of %.3g on average", name, math.Exp(mean))
		}
	}
}
