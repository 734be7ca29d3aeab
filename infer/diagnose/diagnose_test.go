package diagnose

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMonotoneSequence holds the estimator of Girolami and Calderhead to a
// direct evaluation of its definition: autocorrelations as double sums, no
// transform.
func TestMonotoneSequence(t *testing.T) {
	direct := func(x []float64) float64 {
		n := len(x)
		centre := 0.0
		for _, v := range x {
			centre += v / float64(n)
		}
		covariance := func(lag int) float64 {
			sum := 0.0
			for i := 0; i+lag < n; i++ {
				sum += (x[i] - centre) * (x[i+lag] - centre)
			}
			return sum / float64(n)
		}
		tau, smallest := -1.0, math.Inf(1)
		for lag := 0; lag+1 < n; lag += 2 {
			smallest = min(smallest, (covariance(lag)+covariance(lag+1))/covariance(0))
			if smallest <= 0 {
				break
			}
			tau += 2 * smallest
		}
		return tau
	}
	for i, phi := range []float64{0.9, 0.3, 0, -0.5, -0.9} {
		x := autoregressive(phi)(lehmer(7+i), 1, 301)
		tau := direct(x)
		capped, uncapped := InitialMonotoneESS(x)
		if want := 301 / max(tau, 1); math.Abs(capped-want) > 1e-9*want {
			t.Errorf("phi = %v: capped %v, want %v", phi, capped, want)
		}
		if want := 301 / max(tau, 1/math.Log10(301)); math.Abs(uncapped-want) > 1e-9*want {
			t.Errorf("phi = %v: uncapped %v, want %v", phi, uncapped, want)
		}
		if phi < 0 && !(capped == 301 && uncapped > 301) {
			t.Errorf("phi = %v: antithetic draws give %v and %v", phi, capped, uncapped)
		}
	}
	for _, x := range [][]float64{nil, {1, 2, 3}, {2, 2, 2, 2, 2}, {1, math.NaN(), 2, 3, 4, 5}, {1, math.Inf(1), 2, 3, 4}} {
		if capped, uncapped := InitialMonotoneESS(x); !math.IsNaN(capped) || !math.IsNaN(uncapped) {
			t.Errorf("%v: %v, %v, want NaN", x, capped, uncapped)
		}
	}
}

// TestKnownESS checks that the estimators find the theoretical efficiency of a first order
// autoregression, (1-phi)/(1+phi).
func TestKnownESS(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const draws, chains = 20000, 4
	for _, phi := range []float64{-0.5, 0, 0.8} {
		x := make([][]float64, chains)
		for c := range x {
			v := rng.NormFloat64() / math.Sqrt(1-phi*phi)
			for range draws {
				v = phi*v + rng.NormFloat64()
				x[c] = append(x[c], v)
			}
		}
		want := draws * chains * (1 - phi) / (1 + phi)
		for name, got := range map[string]float64{"bulk": ESSBulk(x), "mean": ESSMean(x)} {
			if math.Abs(got/want-1) > 0.1 {
				t.Errorf("phi = %v: %s ESS %v, theory %v", phi, name, got, want)
			}
		}
	}
}

func TestEBFMI(t *testing.T) {
	// By hand: changes 1, -3, 2, squared 1+9+4; distances from the mean 0.75
	// are 0.25, 1.25, -1.75, 0.25, squared 4.75.
	if got, want := EBFMI([]float64{1, 2, -1, 1}), 14/4.75; math.Abs(got-want) > 1e-15 {
		t.Errorf("EBFMI = %v, want %v", got, want)
	}
	if got := EBFMI([]float64{3, 3, 3}); !math.IsNaN(got) {
		t.Errorf("EBFMI of constants = %v", got)
	}
}

// TestDegenerate checks that, for degenerate quantities, every measure returns NaN or a number and
// none panics.
func TestDegenerate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	noise := func(seed, n int) []float64 { return autoregressive(0)(lehmer(seed), 1, n) }
	with := func(x []float64, at int, v float64) []float64 { x = slices.Clone(x); x[at] = v; return x }
	cases := map[string][][]float64{
		"nothing":        nil,
		"empty chains":   {{}, {}},
		"one draw":       {{1}},
		"one draw each":  {{1}, {2}},
		"two draws":      {{1, 2}, {2, 3}},
		"NaN":            {with(noise(1, 50), 3, nan), noise(2, 50)},
		"Inf":            {with(noise(1, 50), 3, inf), noise(2, 50)},
		"both Inf":       {with(with(noise(1, 50), 3, inf), 4, -inf), noise(2, 50)},
		"all Inf":        {{inf, inf, inf, inf, inf, inf}},
		"huge":           {{math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, 1, 2, 3}, {1, 2, 3, 4, 5, 6}},
		"tiny":           {{5e-324, 0, 5e-324, 0, 0, 0, 5e-324, 0}},
		"even coin":      {{0, 1, 1, 0, 1, 0, 0, 1, 1, 0}},
		"stuck apart":    {{1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2}},
		"rounding":       {{1, 1 + 2e-16, 1 - 1e-16, 1, 1, 1, 1, 1}},
		"small scale":    {{1e-20, 2e-20, -1e-20, 3e-20, 0, 1e-20, 5e-20, 2e-20}},
		"unequal length": {noise(1, 50), noise(2, 30), nil},
	}
	got := map[string]Row{}
	for name, chains := range cases {
		got[name] = summarizeOne(chains)
		for _, p := range []float64{0, 0.3, 1, -1, 2, nan} {
			ESSQuantile(chains, p)
			MCSEQuantile(chains, p)
		}
		MCSESD(chains)
		ESSSD(chains)
	}
	isNaN := func(name string, values ...float64) {
		t.Helper()
		for i, v := range values {
			if !math.IsNaN(v) {
				t.Errorf("%s: figure %d is %v, want NaN", name, i, v)
			}
		}
	}
	finite := func(name string, values ...float64) {
		t.Helper()
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: figure %d is %v", name, i, v)
			}
		}
	}
	isNaN("empty chains", got["empty chains"].Mean, got["empty chains"].Rhat)
	finite("NaN", got["NaN"].Mean, got["NaN"].SD, got["NaN"].Q50) // of the other draws
	isNaN("NaN", got["NaN"].MCSEMean, got["NaN"].Rhat, got["NaN"].ESSBulk, got["NaN"].ESSTail)
	finite("Inf", got["Inf"].Q5, got["Inf"].Rhat, got["Inf"].ESSBulk) // ranks exist
	isNaN("Inf", got["Inf"].ESSTail, got["Inf"].MCSEMean)
	isNaN("all Inf", got["all Inf"].Rhat, got["all Inf"].ESSBulk)
	finite("even coin", got["even coin"].Rhat) // the bulk's; posterior says NA
	finite("small scale", got["small scale"].Rhat, got["small scale"].ESSBulk)
	isNaN("rounding", got["rounding"].Rhat, got["rounding"].ESSBulk, got["rounding"].MCSEMean)
	if got["rounding"].SD != 0 {
		t.Errorf("a constant quantity has standard deviation %v", got["rounding"].SD)
	}
	if r := got["stuck apart"].Rhat; !math.IsInf(r, 1) {
		t.Errorf("chains stuck at different values: R-hat = %v, want +Inf", r)
	}
	// Unequal chains are cut to the shortest; empty ones do not count.
	want := summarizeOne([][]float64{noise(1, 50)[:30], noise(2, 30)})
	if got["unequal length"] != want {
		t.Errorf("unequal length: %v, want %v", got["unequal length"], want)
	}
	// Rhat and ESS do not change with location and scale.
	x := [][]float64{noise(3, 100), noise(4, 100)}
	y := [][]float64{noise(3, 100), noise(4, 100)}
	for _, chain := range y {
		for i := range chain {
			chain[i] = 3e-30*chain[i] + 1e-29
		}
	}
	for _, f := range []func([][]float64) float64{Rhat, ESSBulk, ESSTail, ESSMean} {
		if a, b := f(x), f(y); math.Abs(a-b) > 1e-9*a {
			t.Errorf("not invariant: %v, %v", a, b)
		}
	}
}

// TestUndefined checks that a NaN draw of one quantity does not affect the results of others.
func TestUndefined(t *testing.T) {
	d := Slices([]string{"a", "b"}, [][][]float64{{{1, math.NaN()}, {2, math.NaN()}, {3, math.NaN()}, {math.NaN(), math.NaN()}}})
	rows := Summarize(d)
	a, b := rows[0], rows[1]
	if a.Undefined != 1 || a.Mean != 2 || a.SD != 1 || a.Q50 != 2 || !math.IsNaN(a.Rhat) || !math.IsNaN(a.ESSBulk) || !math.IsNaN(a.MCSEMean) {
		t.Errorf("%+v", a)
	}
	if b.Undefined != 0 || !math.IsNaN(b.Mean) || !math.IsNaN(b.Q50) {
		t.Errorf("%+v", b)
	}
	found := false
	for _, f := range Check(d, rows, Options{}) {
		if f.Code == "undefined" {
			found = len(f.Quantities) == 2 && strings.Contains(f.Summary, "1 of 4 draws")
		}
	}
	if !found {
		t.Errorf("%+v", Check(d, rows, Options{}))
	}
}

func TestRowJSON(t *testing.T) {
	row := Row{"theta.1", 1, 0.5, 2, -3, 0, 3, 400, math.NaN(), math.Inf(1), 2}
	text, err := json.Marshal([]Row{row})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"theta.1","mean":1,"mcse_mean":0.5,"sd":2,"q5":-3,"q50":0,"q95":3,"ess_bulk":400,"ess_tail":null,"rhat":null,"undefined":2}]`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var back []Row
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back[0].Name != row.Name || back[0].ESSBulk != 400 || !math.IsNaN(back[0].ESSTail) {
		t.Errorf("read back %v", back)
	}
	a, b := reflect.TypeFor[Row](), reflect.TypeFor[rowJSON]()
	for i := range a.NumField() {
		if a.Field(i).Name != b.Field(i).Name || a.Field(i).Tag != b.Field(i).Tag {
			t.Errorf("Row.%s and rowJSON.%s differ", a.Field(i).Name, b.Field(i).Name)
		}
	}
}

// run is a Draws with statistics.
type run struct {
	Draws
	statistics map[string][][]float64
	arrivals   []int
}

func (r run) Arrivals() []int { return r.arrivals }

func (r run) Statistic(dst []float64, chain int, name string) ([]float64, bool) {
	column, ok := r.statistics[name]
	if !ok {
		return dst, false
	}
	return append(dst, column[chain]...), true
}

// TestChecks has one run for each check. The check must report it, and no other check may.
func TestChecks(t *testing.T) {
	const chains, draws = 4, 400
	base := func() (draw [][][]float64, statistics map[string][][]float64) {
		rng := rand.New(rand.NewPCG(3, 4))
		statistics = map[string][][]float64{}
		for range chains {
			var chain [][]float64
			var energy, depth, divergent, accept []float64
			for range draws {
				chain = append(chain, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
				energy = append(energy, rng.NormFloat64())
				depth = append(depth, 3)
				divergent = append(divergent, 0)
				accept = append(accept, 0.8)
			}
			draw = append(draw, chain)
			statistics["energy__"] = append(statistics["energy__"], energy)
			statistics["treedepth__"] = append(statistics["treedepth__"], depth)
			statistics["divergent__"] = append(statistics["divergent__"], divergent)
			statistics["accept_stat__"] = append(statistics["accept_stat__"], accept)
		}
		return draw, statistics
	}
	nan := math.NaN()
	cases := []struct {
		code       string // "" for a clean run
		also       []string
		damage     func(draw [][][]float64, statistics map[string][][]float64) [][][]float64
		options    Options
		arrivals   []int
		summary    string   // a part of it
		severity   Severity // "": any
		quantities []string
	}{
		{code: ""},
		{code: "no-draws", damage: func([][][]float64, map[string][][]float64) [][][]float64 { return make([][][]float64, 4) }},
		{code: "incomplete", options: Options{PlannedDraws: 1000}, summary: "Chains 1, 2, 3, 4 have fewer than the 1000 draws"},
		{code: "incomplete", damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			draw[2] = nil
			return draw
		}, summary: "Chain 3 has fewer than the 400"},
		{code: "few-draws", also: []string{"ess", "rhat"}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for c := range draw {
				draw[c] = draw[c][:20]
			}
			return draw
		}, summary: "Only 20 draws per chain"},
		{code: "few-draws", also: []string{"incomplete", "ess", "rhat"}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			draw[1] = draw[1][:20]
			return draw
		}, summary: "Only 20 draws of the shortest chain"},
		{code: "stuck-chain", also: []string{"rhat", "ess"}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for i := range draw[1] {
				draw[1][i] = draw[1][0]
			}
			return draw
		}, summary: "Chain 2 never moved"},
		{code: "divergences", damage: func(draw [][][]float64, s map[string][][]float64) [][][]float64 {
			s["divergent__"][0][5], s["divergent__"][3][6] = 1, 1
			return draw
		}, summary: "2 of 1600 transitions diverged (0.12 %), in chains 1, 4."},
		{code: "divergences", options: Options{Chains: []int{3, 4, 7, 9}}, damage: func(draw [][][]float64, s map[string][][]float64) [][][]float64 {
			s["divergent__"][0][5], s["divergent__"][3][6] = 1, 1
			return draw
		}, summary: "in chains 3, 9."},
		{code: "treedepth", options: Options{MaxTreeDepth: 3}, summary: "1600 of 1600 trajectories (100 %) reached the maximum tree depth 3", severity: Note},
		{code: "treedepth", also: []string{"rhat", "ess"}, options: Options{MaxTreeDepth: 3}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for i := range draw[3] {
				draw[3][i][0] += 2
			}
			return draw
		}, severity: Problem},
		{code: "", options: Options{MaxTreeDepth: -1}},
		{code: "acceptance", damage: func(draw [][][]float64, s map[string][][]float64) [][][]float64 {
			for i := range s["accept_stat__"][1] {
				s["accept_stat__"][1][i] = 0.1
			}
			return draw
		}, summary: "as low as 0.1 in chain 2."},
		{code: "ebfmi", damage: func(draw [][][]float64, s map[string][][]float64) [][][]float64 {
			slices.Sort(s["energy__"][2])
			return draw
		}, summary: "in chain 3."},
		{code: "restarts", damage: func(draw [][][]float64, s map[string][][]float64) [][][]float64 {
			s["restarts__"] = make([][]float64, len(draw))
			for c := range draw {
				for i := range draw[c] {
					s["restarts__"][c] = append(s["restarts__"][c], float64(i/(4+20*(c/3))))
				}
			}
			return draw
		}, summary: "only 16 times"},
		{code: "undefined", damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			draw[2][7][1] = nan
			return draw
		}, quantities: []string{"b"}},
		{code: "rhat", also: []string{"ess"}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for i := range draw[3] {
				draw[3][i][2] += 3
				draw[3][i][0] += 2
			}
			return draw
		}, summary: "R-hat of 4 independent chains is above 1.01 for 2 of 3 quantities", quantities: []string{"c", "a"}},
		{code: "ess", also: []string{"rhat"}, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for c := range draw {
				for i := 1; i < draws; i++ {
					draw[c][i][1] += 0.95 * draw[c][i-1][1]
				}
			}
			return draw
		}, quantities: []string{"b"}},
		{code: "one-chain", damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 { return draw[:1] }},
		{code: "shared-start", arrivals: []int{1, 1, 1, 1}, summary: "All 4 chains began at the same place"},
		{code: "shared-start", arrivals: []int{1, 0, 1, 0}, summary: "4 chains began at 3 places"},
		{code: "heavy-tail", severity: Note, damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for c := range draw {
				for i, x := range draw[c] {
					x[1] = math.Tan(math.Pi * (0.5*math.Erfc(-x[1]/math.Sqrt2) - 0.5))
					draw[c][i] = x
				}
			}
			return draw
		}, quantities: []string{"b"}, summary: "The mean of b"},
		{code: "constant", damage: func(draw [][][]float64, _ map[string][][]float64) [][][]float64 {
			for c := range draw {
				for i := range draw[c] {
					draw[c][i][0] = 1
				}
			}
			return draw
		}, quantities: []string{"a"}, summary: "1 of 3 quantities"},
	}
	covered := map[string]bool{}
	for _, c := range cases {
		draw, statistics := base()
		if c.damage != nil {
			draw = c.damage(draw, statistics)
		}
		findings := Check(run{Slices([]string{"a", "b", "c"}, draw), statistics, c.arrivals}, nil, c.options)
		found := false
		for _, f := range findings {
			if f.Advice == "" || f.Severity == "" || strings.ContainsRune(f.Summary, '\n') {
				t.Errorf("%s: incomplete finding %+v", c.code, f)
			}
			switch {
			case f.Code == c.code:
				found = true
				if c.severity != "" && f.Severity != c.severity {
					t.Errorf("%s: severity %q, want %q", c.code, f.Severity, c.severity)
				}
				if !strings.Contains(f.Summary, c.summary) {
					t.Errorf("%s: summary %q lacks %q", c.code, f.Summary, c.summary)
				}
				if c.quantities != nil && !slices.Equal(f.Quantities, c.quantities) {
					t.Errorf("%s: quantities %q, want %q", c.code, f.Quantities, c.quantities)
				}
			case !slices.Contains(c.also, f.Code):
				t.Errorf("%q: unexpected finding %+v", c.code, f)
			}
		}
		if !found && c.code != "" {
			t.Errorf("%s: not found in %+v", c.code, findings)
		}
		covered[c.code] = true
	}
	for _, c := range checks {
		if !covered[c.code] {
			t.Errorf("no case for check %q", c.code)
		}
	}
}

// synthetic makes a large run, laid out as a store has it.
type synthetic struct {
	names  []string
	chains [][]float64
}

func (s synthetic) Names() []string   { return s.names }
func (s synthetic) Chains() int       { return len(s.chains) }
func (s synthetic) Len(chain int) int { return len(s.chains[chain]) / len(s.names) }
func (s synthetic) Column(dst []float64, chain, quantity int) []float64 {
	for i := quantity; i < len(s.chains[chain]); i += len(s.names) {
		dst = append(dst, s.chains[chain][i])
	}
	return dst
}

func newSynthetic(chains, draws, quantities int) synthetic {
	rng := rand.New(rand.NewPCG(5, 6))
	s := synthetic{names: make([]string, quantities)}
	for range chains {
		x := make([]float64, draws*quantities)
		for i := range x {
			x[i] = rng.NormFloat64()
			if i >= quantities {
				x[i] += 0.5 * x[i-quantities]
			}
		}
		s.chains = append(s.chains, x)
	}
	return s
}

// TestParallel checks that rows do not depend on the number of goroutines.
func TestParallel(t *testing.T) {
	s := newSynthetic(3, 200, 60)
	want := Summarize(s)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := Summarize(s); !slices.Equal(got, want) {
		t.Error("the summary depends on GOMAXPROCS")
	}
}

// TestFast checks the speed of a summary: 4 chains of 1000 draws of 2000 quantities take about 3 s
// on two cores. To be independent of the machine and its load, the unit is the time of sorting the
// draws; a summary takes about four of these.
func TestFast(t *testing.T) {
	s := newSynthetic(4, 1000, 20)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	least := math.Inf(1)
	for range 5 {
		start := time.Now()
		var x []float64
		for q := range s.names {
			x = x[:0]
			for chain := range s.chains {
				x = s.Column(x, chain, q)
			}
			slices.Sort(x)
		}
		unit := time.Since(start)
		start = time.Now()
		Summarize(s)
		least = min(least, float64(time.Since(start))/float64(unit))
	}
	t.Logf("a summary takes %.1f times as long as sorting", least)
	if least > 15 {
		t.Errorf("a summary takes %.1f times as long as sorting", least)
	}
}

func BenchmarkSummarize(b *testing.B) {
	s := newSynthetic(4, 1000, 2000)
	for b.Loop() {
		Summarize(s)
	}
}

// TestPrecisions checks that Precisions returns the single measures of the chains, which are cut as
// by Summarize.
func TestPrecisions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([][]float64, 3)
	for c := range x {
		last := 0.0
		for range 200 + 30*c {
			last = 0.5*last + rng.NormFloat64()
			x[c] = append(x[c], last)
		}
	}
	cut := [][]float64{x[0][:200], x[1][:200], x[2][:200]}
	mean := 0.0
	for _, chain := range cut {
		for _, v := range chain {
			mean += v / 600
		}
	}
	squares := make([][]float64, 3)
	geyer := 0.0
	for c, chain := range cut {
		for _, v := range chain {
			squares[c] = append(squares[c], (v-mean)*(v-mean))
		}
		capped, _ := InitialMonotoneESS(chain)
		geyer += capped
	}
	draws := make([][][]float64, 3)
	for c, chain := range x {
		for _, v := range chain {
			draws[c] = append(draws[c], []float64{v})
		}
	}
	p := Precisions(Slices([]string{"x"}, draws))[0]
	for name, c := range map[string][2]float64{
		"mcse_sd": {p.MCSESD, MCSESD(cut)}, "mcse_q5": {p.MCSEQ5, MCSEQuantile(cut, 0.05)}, "mcse_q95": {p.MCSEQ95, MCSEQuantile(cut, 0.95)},
		"ess_squares": {p.ESSSquares, ESSMean(squares)}, "geyer": {p.Geyer, geyer},
	} {
		if !(math.Abs(c[0]-c[1]) < 1e-9*math.Abs(c[1])) {
			t.Errorf("%s is %v, not %v", name, c[0], c[1])
		}
	}
	if p.GeyerUncapped < p.Geyer {
		t.Errorf("%+v", p)
	}
}
