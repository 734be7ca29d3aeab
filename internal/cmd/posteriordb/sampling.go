package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

// Limits beyond which a run of ppl or of Stan counts as a failure.
const (
	failRhat      = 1.01
	failESS       = 400
	failDivergent = 0.001
	failZ         = 4.3
)

// tooLate is the number of runs after which a posterior is given up if no run ended in time:
// further runs would show nothing new, and take the longest time.
const tooLate = 3

// samplingRow is the result of a sampler on a posterior, compared with Stan's NUTS.
type samplingRow struct {
	Name   string        `json:"name"`
	Family string        `json:"family"`
	Dim    int           `json:"dim,omitempty"`
	Reason string        `json:"reason,omitempty"` // why there are no runs
	Easy   bool          `json:"easy,omitempty"`   // easy posterior: at most 60 dimensions, marginals near normal or log-normal by Stan's quantiles
	Runs   []samplingRun `json:"runs,omitempty"`

	Against []samplingRun `json:"against,omitempty"` // runs of the rival, where that is not Stan

	// Of Stan, or of the median of Against.
	Stan       number   `json:"stan"` // lesser of bulk and tail ESS per leapfrog step, warm-up counted; NaN: unknown
	StanFailed []string `json:"stan_failed,omitempty"`
	StanCPU    number   `json:"stan_cpu_per_ess"` // seconds, without compilation

	// Over all runs: the median score, where a failed run counts as 0; the median seconds per
	// effective draw; the number of failures.
	Score  number `json:"score"`
	CPU    number `json:"cpu_per_ess"`
	Failed int    `json:"failed"`
	Ratio  number `json:"ratio"` // Score divided by Stan; NaN if either failed or is not known
}

// samplingRun is one run.
type samplingRun struct {
	Seed        uint64   `json:"seed"`
	Error       string   `json:"error,omitempty"`
	ESS         number   `json:"ess"` // least of bulk, tail and squares, each at most the number of draws
	Worst       string   `json:"worst,omitempty"`
	Rhat        number   `json:"rhat"`
	Divergences int      `json:"divergences"`
	Draws       int      `json:"draws"`
	Transitions int      `json:"transitions"` // including warm-up
	Warmup      number   `json:"warmup"`      // cost in gradients, all chains
	Sampling    number   `json:"sampling"`
	Start       number   `json:"start"`  // part of Warmup before the first round
	Search      number   `json:"search"` // cost of the search for modes, which is part of Start
	Climbs      number   `json:"climbs"` // number of climbs of the search
	Race        number   `json:"race"`
	Seconds     float64  `json:"seconds"` // processor time, all chains
	Z           number   `json:"z"`       // largest distance from the reference moments; NaN: no reference
	WorstZ      string   `json:"worst_z,omitempty"`
	Notes       []string `json:"notes,omitempty"`
	Failures    []string `json:"failures,omitempty"`
}

func (r *samplingRun) score() float64 {
	if len(r.Failures) > 0 {
		return 0
	}
	return float64(r.ESS) / float64(r.Warmup+r.Sampling)
}

type samplingReport struct {
	about
	Sampler string        `json:"sampler"`
	Rows    []samplingRow `json:"posteriors"`

	options     options
	outside     bool // posteriors outside posteriordb
	ofReference map[string]reference
}

func (r *samplingReport) add(db database, name string) {
	if r.ofReference == nil && !db.outside {
		r.ofReference = map[string]reference{}
		if err := readJSON(filepath.Join(db.ref, "reference_posteriors.json"), &r.ofReference); err != nil {
			r.fail(name, err.Error())
			return
		}
	}
	row := samplingRow{Name: name, Family: family(name)}
	if err := row.sample(db, r.ofReference, r.options); err != nil {
		row.Reason = says(err)
	}
	r.Rows = append(r.Rows, row)
}

func (r *samplingReport) take(rows json.RawMessage) error {
	var more []samplingRow
	err := json.Unmarshal(rows, &more)
	r.Rows = append(r.Rows, more...)
	return err
}

func (r *samplingReport) fail(name, reason string) {
	r.Rows = append(r.Rows, samplingRow{Name: name, Family: family(name), Reason: reason})
}

func (r *samplingReport) len() int { return len(r.Rows) }

// samplerOf returns the sampler for a name with options, such as "auto -delta 0.9".
func samplerOf(text string) (infer.Sampler, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("--sampler is empty")
	}
	row, ok := sampler.Lookup(words[0])
	if !ok {
		return nil, fmt.Errorf("there is no sampler %q", words[0])
	}
	fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
	build := row.Options(fs)
	if err := fs.Parse(words[1:]); err != nil {
		return nil, err
	}
	return build()
}

func (row *samplingRow) sample(db database, refs map[string]reference, o options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	s, err := db.load(row.Name)
	if err != nil {
		return err
	}
	ref, known := refs[row.Name]
	row.Stan, row.StanCPU = number(math.NaN()), number(math.NaN())
	if s.stan != nil {
		row.ofStan(s.stan, ref, known)
	}
	m, _, err := s.compile()
	if err != nil {
		return err
	}
	p, err := m.Bind(model.JSON(s.data))
	if err != nil {
		return err
	}
	row.Dim = p.Dim()
	var params map[string]bool // those of the parameters block, if Stan's figures name them
	if s.stan != nil {
		params = map[string]bool{}
		for _, n := range s.stan.Params {
			params[n] = true
		}
	}
	runs := func(of string) (made []samplingRun, err error) {
		with, err := samplerOf(of)
		if err != nil {
			return nil, err
		}
		late := 0
		for i := range o.seeds {
			if late == tooLate && i == tooLate {
				break
			}
			run := samplingRun{Seed: o.seed + uint64(i)}
			ctx, cancel := limited(o.runLimit)
			begun := cputime.Process()
			fit, err := fit.Sample(ctx, p, fit.Options{Seed: run.Seed, Sampler: with, Draws: o.draws, Warmup: o.draws, Parallel: o.parallel})
			run.Seconds = (cputime.Process() - begun).Seconds()
			if ctx.Err() != nil {
				err = fmt.Errorf("not done within %v", o.runLimit)
				late++
			}
			cancel()
			if err != nil {
				run.Error = says(err)
			}
			run.measure(fit, params, ref, known)
			made = append(made, run)
		}
		return made, nil
	}
	if row.Runs, err = runs(o.sampler); err != nil {
		return err
	}
	if o.against != "" {
		if row.Against, err = runs(o.against); err != nil {
			return err
		}
		row.ofRival()
	}
	row.judge()
	return nil
}

// limited returns a context that ends when the process has used this much more processor time,
// whatever else runs on the machine.
func limited(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	until := cputime.Process() + limit
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if cputime.Process() > until {
					cancel()
					return
				}
			}
		}
	}()
	return ctx, cancel
}

// measure adds a fit to the row; nil: there is no fit.
func (r *samplingRun) measure(fit *fit.Fit, params map[string]bool, ref reference, known bool) {
	nan := number(math.NaN())
	r.ESS, r.Rhat, r.Z = nan, nan, nan
	if fit == nil {
		r.Failures = []string{"error"}
		return
	}
	for i, c := range fit.Report.Chains {
		r.Draws += fit.Draws.Len(i)
		r.Transitions += c.Warmup.Transitions + c.Sampling.Transitions
		r.Divergences += c.Sampling.Divergences
		r.Warmup += number(c.Warmup.Cost())
		r.Sampling += number(c.Sampling.Cost())
		r.Start += number(c.Adapted["start_gradients"])
		r.Search += number(c.Adapted["search_gradients"])
		r.Climbs += number(c.Adapted["search_climbs"])
		r.Race += number(c.Adapted["race_gradients"])
		for _, note := range c.Notes {
			if !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
	}
	if r.Error != "" {
		r.Failures = []string{"error"}
		return
	}
	r.ESS, r.Rhat = number(math.Inf(1)), 1
	most := float64(r.Draws)
	look := func(name string, chains [][]float64) {
		constant := true
		for _, c := range chains {
			for _, v := range c {
				constant = constant && v == chains[0][0]
			}
		}
		if constant {
			return
		}
		for what, ess := range map[string]float64{"bulk": diagnose.ESSBulk(chains), "tail": diagnose.ESSTail(chains), "squares": diagnose.ESSSquares(chains)} {
			if math.IsNaN(ess) && what == "tail" { // a quantity with few values
				continue
			}
			if ess = min(ess, most); ess < float64(r.ESS) || math.IsNaN(ess) {
				r.ESS, r.Worst = number(ess), name+", "+what
			}
		}
		if rhat := diagnose.Rhat(chains); !(rhat <= float64(r.Rhat)) {
			r.Rhat = number(rhat)
		}
	}
	column := func(k int) [][]float64 {
		chains := make([][]float64, fit.Draws.Chains())
		for c := range chains {
			chains[c] = fit.Draws.Column(nil, c, k)
		}
		return chains
	}
	names := fit.Names()
	for k, n := range names {
		if params == nil || params[n] {
			look(n, column(k))
		}
	}
	lp := make([][]float64, fit.Draws.Chains())
	for c := range lp {
		lp[c], _ = fit.Draws.Statistic(nil, c, "lp__")
	}
	look("lp__", lp)
	if known {
		r.Z = 0
		for k, n := range names {
			want, ok := ref.Parameters[diagnose.DisplayName(n)]
			if !ok {
				want, ok = ref.Parameters[strings.ReplaceAll(diagnose.DisplayName(n), ",", ", ")]
			}
			if !ok {
				continue
			}
			chains := column(k)
			squares := make([][]float64, len(chains))
			for c := range chains {
				for _, v := range chains[c] {
					squares[c] = append(squares[c], v*v)
				}
			}
			for what, score := range map[string]float64{"mean": z(chains, want.Mean, ref.Draws), "square": z(squares, want.MeanSq, ref.Draws)} {
				if math.Abs(score) > math.Abs(float64(r.Z)) || math.IsNaN(score) {
					r.Z, r.WorstZ = number(score), what+" of "+n
				}
			}
		}
	}
	r.Failures = failuresOf(float64(r.Rhat), float64(r.ESS), float64(r.Divergences)/most, float64(r.Z))
}

// failuresOf returns the reasons for which a run counts as failed. A z of NaN is unknown.
func failuresOf(rhat, ess, divergent, z float64) (why []string) {
	if !(rhat <= failRhat) {
		why = append(why, fmt.Sprintf("R-hat %.3f", rhat))
	}
	if !(ess >= failESS) {
		why = append(why, fmt.Sprintf("ESS %.0f", ess))
	}
	if divergent > failDivergent {
		why = append(why, fmt.Sprintf("%.2g %% divergent", 100*divergent))
	}
	if math.Abs(z) > failZ {
		why = append(why, fmt.Sprintf("z %.1f", z))
	}
	return why
}

// ofStan adds the recorded figures of Stan. They contain no effective sample size of squares, so
// Stan's score is based only on bulk and tails, which favours Stan.
func (row *samplingRow) ofStan(f *figuresOfStan, ref reference, known bool) {
	n := f.NUTS
	if n.Complete < 4 || len(n.Summary.Bulk) < len(f.Params) {
		row.StanFailed = []string{"not done"}
		return
	}
	total := 1000 * float64(n.Complete)
	ess, rhat := min(float64(n.LP.Bulk), float64(n.LP.Tail), total), float64(n.LP.Rhat)
	worst, near := 0.0, row.near(f)
	for k := range f.Params {
		sd := float64(n.Summary.SD[k])
		if math.IsNaN(sd) || sd == 0 {
			continue
		}
		for _, v := range []number{n.Summary.Bulk[k], n.Summary.Tail[k]} {
			if !math.IsNaN(float64(v)) {
				ess = min(ess, float64(v))
			}
		}
		rhat = larger(rhat, float64(n.Summary.Rhat[k]))
		if known {
			if want, ok := ref.Parameters[strings.ReplaceAll(diagnose.DisplayName(f.Params[k]), " ", "")]; ok {
				score := (float64(n.Summary.Mean[k]) - want.Mean) / math.Hypot(float64(n.Summary.MCSE[k]), sd/math.Sqrt(float64(ref.Draws)))
				worst = larger(worst, math.Abs(score))
			}
		}
	}
	divergences := 0
	for _, c := range n.Chains {
		divergences += c.Divergences
	}
	row.Easy = near && f.Dim <= 60
	row.StanFailed = failuresOf(rhat, ess, float64(divergences)/total, worst)
	row.Stan = number(ess / (n.WarmupLeapfrogs + n.SamplingLeapfrogs))
	row.StanCPU = number((n.WarmupCPU + n.SamplingCPU) / ess)
}

// ofRival adds the runs of the sampler with which ppl's is compared instead of Stan's.
func (row *samplingRow) ofRival() {
	row.StanFailed = nil
	row.Stan, row.StanCPU = number(math.NaN()), number(math.NaN())
	var score, cpu []float64
	for i := range row.Against {
		r := &row.Against[i]
		if len(r.Failures) > 0 {
			row.StanFailed = append(row.StanFailed, r.Failures...)
			continue
		}
		score, cpu = append(score, r.score()), append(cpu, r.Seconds/float64(r.ESS))
	}
	if 2*len(score) <= len(row.Against) {
		return
	}
	row.StanFailed = nil
	row.Stan, row.StanCPU = number(median(score)), number(median(cpu))
}

// near reports whether the marginals, or their logarithms, are nearly normal, judged by Stan's
// quantiles.
func (row *samplingRow) near(f *figuresOfStan) bool {
	s := f.NUTS.Summary
	even := func(a, b, c float64) bool {
		r := (c - b) / (b - a)
		return r > 0.75 && r < 1/0.75
	}
	for k := range f.Params {
		a, b, c := float64(s.Q5[k]), float64(s.Q50[k]), float64(s.Q95[k])
		if math.IsNaN(a) || a == c {
			continue
		}
		if !even(a, b, c) && !(a > 0 && even(math.Log(a), math.Log(b), math.Log(c))) {
			return false
		}
	}
	return true
}

// judge computes the medians over the runs.
func (row *samplingRow) judge() {
	var scores, cpu []float64
	row.Failed = 0
	for i := range row.Runs {
		r := &row.Runs[i]
		scores = append(scores, r.score())
		if len(r.Failures) > 0 {
			row.Failed++
			cpu = append(cpu, math.Inf(1))
		} else {
			cpu = append(cpu, r.Seconds/float64(r.ESS))
		}
	}
	row.Score, row.CPU = number(median(scores)), number(median(cpu))
	row.Ratio = number(math.NaN())
	if row.Score > 0 && row.Stan > 0 && len(row.StanFailed) == 0 {
		row.Ratio = row.Score / row.Stan
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n > 0 {
		return (v[(n-1)/2] + v[n/2]) / 2
	}
	return math.NaN()
}

func (r *samplingReport) line() string {
	row := &r.Rows[len(r.Rows)-1]
	if row.Reason != "" {
		return fmt.Sprintf("%-45s %s", row.Name, row.Reason)
	}
	run := row.Runs[0]
	text := fmt.Sprintf("%-45s d %3d  ratio %6.2f  score %.4f  rival %.4f  failed %d/%d (rival %v)", row.Name, row.Dim, float64(row.Ratio), float64(row.Score), float64(row.Stan), row.Failed, len(row.Runs), len(row.StanFailed) > 0)
	text += fmt.Sprintf("  cost %.0f+%.0f", float64(run.Warmup), float64(run.Sampling))
	if run.Failures != nil {
		text += "  " + strings.Join(run.Failures, ", ") + " (" + run.Worst + ") " + run.Error
	}
	return text
}

// rival returns the name of the sampler for comparison.
func (r *samplingReport) rival() string {
	if r.options.against != "" {
		return r.options.against + " of ppl"
	}
	return "Stan"
}

func (r *samplingReport) conclude() {
	r.Sampler = r.options.sampler
	for i := range r.Rows {
		r.Rows[i].judge()
	}
}

// interval is a geometric mean with its 95 % interval by the bootstrap over families.
type interval struct {
	mean, low, high float64
	n               int
}

func (r *samplingReport) bootstrap(keep func(*samplingRow) bool) interval {
	by := map[string][]float64{}
	var all []float64
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Ratio > 0 && keep(row) {
			by[row.Family] = append(by[row.Family], math.Log(float64(row.Ratio)))
			all = append(all, math.Log(float64(row.Ratio)))
		}
	}
	if len(all) == 0 {
		return interval{}
	}
	var names []string
	for f := range by {
		names = append(names, f)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(1, 1))
	const rounds = 4000
	means := make([]float64, rounds)
	for b := range means {
		sum, n := 0.0, 0.0
		for range names {
			for _, v := range by[names[rng.IntN(len(names))]] {
				sum += v
				n++
			}
		}
		means[b] = sum / n
	}
	slices.Sort(means)
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return interval{math.Exp(sum / float64(len(all))), math.Exp(means[rounds/40]), math.Exp(means[rounds-1-rounds/40]), len(all)}
}

func (i interval) String() string {
	if i.n == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s, %d posteriors)", figures.Number(i.mean), figures.Number(i.low), figures.Number(i.high), i.n)
}

// tally counts the posteriors that the ratios leave out.
func (r *samplingReport) tally() (ours, stan, both, below, compared int, low []string) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Reason != "" {
			continue
		}
		mine, theirs := 2*row.Failed > len(row.Runs), len(row.StanFailed) > 0 || math.IsNaN(float64(row.Stan))
		switch {
		case mine && theirs:
			both++
		case mine:
			ours++
			low = append(low, row.Name)
		case theirs:
			stan++
		}
		if row.Ratio > 0 {
			compared++
			if row.Ratio < 1 {
				below++
				low = append(low, row.Name)
			}
		}
	}
	return
}

func (r *samplingReport) summary() string {
	ours, stan, both, below, compared, _ := r.tally()
	var ratios []float64
	families := map[string][]float64{}
	for _, row := range r.Rows {
		if row.Ratio > 0 {
			ratios = append(ratios, float64(row.Ratio))
			families[row.Family] = append(families[row.Family], math.Log(float64(row.Ratio)))
		}
	}
	if len(ratios) == 0 {
		return "There is nothing to compare.\n"
	}
	slices.Sort(ratios)
	mean := 0.0
	for _, v := range families {
		sum := 0.0
		for _, l := range v {
			sum += l / float64(len(v))
		}
		mean += sum / float64(len(families))
	}
	q := quartiles(ratios)
	var b strings.Builder
	all := func(*samplingRow) bool { return true }
	fmt.Fprintf(&b, "Score over that of %s, geometric mean: %v. Mean over %d families: %s.\n", r.rival(), r.bootstrap(all), len(families), figures.Number(math.Exp(mean)))
	fmt.Fprintf(&b, "Without the easy posteriors: %v; the easy ones: %v.\n", r.bootstrap(func(w *samplingRow) bool { return !w.Easy }), r.bootstrap(func(w *samplingRow) bool { return w.Easy }))
	fmt.Fprintf(&b, "10 %% quantile %s, quartiles %s, %s, %s. Below 1: %d of %d.\n", figures.Number(ratios[len(ratios)/10]), figures.Number(q[0]), figures.Number(q[1]), figures.Number(q[2]), below, compared)
	fmt.Fprintf(&b, "Failures: %d posteriors where %s passes, %d passes where it fails or was not done, %d where both fail.\n", ours, r.rival(), stan, both)
	return b.String()
}

func (r *samplingReport) failures() int {
	n := 0
	for _, w := range r.Rows {
		if w.Reason != "" {
			n++
		}
	}
	return n
}

func (r *samplingReport) markdown() string {
	var b strings.Builder
	title, of, limit := "## Sampling", "Stan's is that of its recorded runs, of bulk and tails alone, per leapfrog, the climb to its first step size not counted. ", ", or a moment more than %v standard errors from posteriordb's reference"
	check := "sampling"
	if r.outside {
		title, check, limit = "## Sampling outside posteriordb", "outside", ""
	} else {
		limit = fmt.Sprintf(limit, failZ)
	}
	if r.options.against != "" {
		of = fmt.Sprintf("That of %s is measured in the same way, with the same seeds. ", r.rival())
	}
	fewer := ""
	if r.options.seeds > tooLate {
		fewer = fmt.Sprintf(", and no more than %d where these are not done in time", tooLate)
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", title, r.made(check))
	fmt.Fprintf(&b, "The sampler %q: %d runs of four chains with at most %d + %d transitions each, seeds from %d%s. The score is the minimum effective sample size per gradient: of bulk, tails and squares, over the constrained parameters that vary and the log density, "+
		"each at most the number of draws. All gradients count. The table has the median over the runs, with 0 for a run that fails. %s"+
		"A run fails by an R-hat above %v, a least effective sample size below %d, more than %v %% divergent transitions, an error, %v of processor time%s.\n\n%s\n",
		r.options.sampler, r.options.seeds, r.options.draws, r.options.draws, r.options.seed, fewer, of, failRhat, failESS, 100*failDivergent, r.options.runLimit, limit, r.summary())
	if _, _, _, _, _, low := r.tally(); len(low) > 0 {
		fmt.Fprintf(&b, "Below %s: %s.\n\n", r.rival(), strings.Join(low, ", "))
	}
	fmt.Fprintf(&b, "| posterior | d | ratio | score | %[1]s | failed | gradients: warm-up (start, race) + sampling | µs CPU per effective draw (%[1]s) | what was chosen, or what failed |\n| --- | --: | --: | --: | --: | --: | --- | --: | --- |\n", r.rival())
	for _, w := range r.Rows {
		if w.Reason != "" {
			fmt.Fprintf(&b, "| %s | | | | | | | | %s |\n", w.Name, w.Reason)
			continue
		}
		run := w.Runs[0]
		what := strings.Join(run.Notes, " ")
		if run.Failures != nil {
			what = strings.Join(run.Failures, ", ") + ": " + run.Worst + " " + run.Error + ". " + what
		}
		show := func(v number, scale float64) string {
			if f := scale * float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
				return figures.Number(f)
			}
			return "–"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d of %d | %.0f (%.0f, %.0f) + %.0f | %s (%s) | %s |\n", w.Name, w.Dim, show(w.Ratio, 1), show(w.Score, 1), show(w.Stan, 1), w.Failed, len(w.Runs),
			float64(run.Warmup), float64(run.Start), float64(run.Race), float64(run.Sampling), show(w.CPU, 1e6), show(w.StanCPU, 1e6), what)
	}
	return b.String()
}

// sharded returns every n-th name in the order of a hash, so that slow families are distributed.
func sharded(names []string, i, n int) []string {
	var out []string
	for _, name := range names {
		h := fnv.New32a()
		h.Write([]byte(name))
		if int(h.Sum32()>>8)%n == i {
			out = append(out, name)
		}
	}
	return out
}
