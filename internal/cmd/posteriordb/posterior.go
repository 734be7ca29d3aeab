package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

const (
	// The probability that a run over all posteriors fails by chance, if all z-scores were standard
	// normal and independent.
	familyWise = 0.01
	// Limits of R-hat and divergences. R-hat: the advice of Vehtari et al. (2021),
	// Rank-normalization, folding, and localization, plus a margin for the variation with 1000
	// draws. Divergences: 1 % of all draws.
	maxRhat           = 1.02
	maxDivergentShare = 0.01
)

// posteriorRow is the result of the check of posteriors for one posterior.
type posteriorRow struct {
	Name        string   `json:"name"`
	Reason      string   `json:"reason,omitempty"` // why there are no draws
	Z           []zScore `json:"z,omitempty"`
	Draws       int      `json:"draws,omitempty"` // all chains
	Rhat        number   `json:"max_rhat"`        // over the parameters compared
	Divergences int      `json:"divergences"`
	LeastESS    number   `json:"least_ess"` // in the bulk
	Seconds     float64  `json:"seconds"`   // wall, warm-up included
	Runs        int      `json:"runs"`      // the figures are from the last run
	// Figures of Stan's NUTS; Rhat 0: not known.
	StanRhat        float64  `json:"stan_max_rhat,omitempty"`
	StanDivergences int      `json:"stan_divergences,omitempty"`
	Failures        []string `json:"failures,omitempty"`
}

// zScore compares a moment with the same moment of the reference draws.
type zScore struct {
	Name   string `json:"name"`
	Moment string `json:"moment"` // mean, square
	Z      number `json:"z"`
}

type posteriorReport struct {
	about
	Threshold   float64        `json:"threshold"`
	Scores      int            `json:"scores"`
	Kolmogorov  float64        `json:"kolmogorov"`
	Rows        []posteriorRow `json:"posteriors"`
	options     options
	ofReference map[string]reference
}

// reference contains the moments of a posterior's reference draws, which are thinned so that they
// are almost independent.
type reference struct {
	Draws      int `json:"draws"`
	Parameters map[string]struct {
		Mean   float64 `json:"mean"`
		SD     float64 `json:"sd"`
		MeanSq float64 `json:"mean_sq"`
	} `json:"parameters"`
}

func (r *posteriorReport) add(db database, name string) {
	if r.ofReference == nil {
		r.ofReference = map[string]reference{}
		if err := readJSON(filepath.Join(db.ref, "reference_posteriors.json"), &r.ofReference); err != nil {
			r.fail(name, err.Error())
			return
		}
	}
	ref, ok := r.ofReference[name]
	if !ok {
		return
	}
	row := posteriorRow{Name: name}
	if err := row.sample(db, ref, r.options); err != nil {
		row.Reason = says(err)
	}
	r.Rows = append(r.Rows, row)
}

func (r *posteriorReport) take(rows json.RawMessage) error {
	var more []posteriorRow
	err := json.Unmarshal(rows, &more)
	for i := range more {
		more[i].Failures = nil // judged again, with the threshold for all posteriors
	}
	r.Rows = append(r.Rows, more...)
	return err
}

func (r *posteriorReport) fail(name, reason string) {
	r.Rows = append(r.Rows, posteriorRow{Name: name, Reason: reason})
}

func (r *posteriorReport) len() int { return len(r.Rows) }

func (row *posteriorRow) sample(db database, ref reference, o options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	s, err := db.load(row.Name)
	if err != nil {
		return err
	}
	if s.stan != nil {
		row.StanRhat = s.stan.NUTS.MaxRhat
		for _, c := range s.stan.NUTS.Chains {
			row.StanDivergences += c.Divergences
		}
	}
	m, _, err := s.compile()
	if err != nil {
		return err
	}
	p, err := m.Bind(model.JSON(s.data))
	if err != nil {
		return err
	}
	// Chains start at random and can remain in a minor mode. R-hat shows this without reference
	// draws. The run is then repeated, as a user would do.
	for row.Runs < o.runs {
		row.Runs++
		t := time.Now()
		fit, err := fit.Sample(context.Background(), p, fit.Options{Seed: o.seed + uint64(row.Runs-1), Warmup: o.draws, Draws: o.draws})
		if err != nil {
			return err
		}
		row.Seconds = time.Since(t).Seconds()
		if err := row.compare(fit, ref); err != nil {
			return err
		}
		if row.Rhat <= maxRhat {
			break
		}
	}
	return nil
}

// compare compares the draws of a run with the reference and records the results.
func (row *posteriorRow) compare(fit *fit.Fit, ref reference) error {
	row.Z, row.Draws, row.Divergences, row.Rhat = nil, 0, 0, 0
	row.LeastESS = number(math.Inf(1))
	for _, c := range fit.Sampling() {
		row.Draws += c.Draws
		row.Divergences += c.Divergences
	}
	names := fit.Names()
	for i, n := range names {
		names[i] = diagnose.DisplayName(n)
	}
	params := make([]string, 0, len(ref.Parameters))
	for n := range ref.Parameters {
		params = append(params, n)
	}
	slices.Sort(params)
	for _, n := range params {
		k := slices.Index(names, strings.ReplaceAll(n, " ", ""))
		if k < 0 {
			return fmt.Errorf("there is no %s among the draws", n)
		}
		chains := make([][]float64, fit.Draws.Chains())
		squares := make([][]float64, len(chains))
		for c := range chains {
			chains[c] = fit.Draws.Column(nil, c, k)
			for _, v := range chains[c] {
				squares[c] = append(squares[c], v*v)
			}
		}
		row.Rhat = number(larger(float64(row.Rhat), diagnose.Rhat(chains)))
		row.LeastESS = number(min(float64(row.LeastESS), diagnose.ESSBulk(chains)))
		want := ref.Parameters[n]
		row.Z = append(row.Z,
			zScore{n, "mean", number(z(chains, want.Mean, ref.Draws))},
			zScore{n, "square", number(z(squares, want.MeanSq, ref.Draws))})
	}
	return nil
}

// z compares the mean of draws with that of independent reference draws. It uses the standard
// deviation of the draws for both.
func z(chains [][]float64, mean float64, draws int) float64 {
	own, sd := moments(chains)
	return (own - mean) / math.Hypot(diagnose.MCSEMean(chains), sd/math.Sqrt(float64(draws)))
}

func moments(chains [][]float64) (mean, sd float64) {
	n, ss := 0.0, 0.0
	for _, c := range chains {
		for _, v := range c {
			n++
			d := v - mean
			mean += d / n
			ss += d * (v - mean)
		}
	}
	return mean, math.Sqrt(ss / (n - 1))
}

func (row *posteriorRow) worst() zScore {
	var w zScore
	for _, s := range row.Z {
		if math.IsNaN(float64(s.Z)) || math.Abs(float64(s.Z)) > math.Abs(float64(w.Z)) {
			w = s
		}
	}
	return w
}

func (r *posteriorReport) line() string {
	row := &r.Rows[len(r.Rows)-1]
	if row.Reason != "" {
		return fmt.Sprintf("%-45s %s", row.Name, row.Reason)
	}
	w := row.worst()
	return fmt.Sprintf("%-45s z %5.2f (%s of %s)  R-hat %.3f  divergences %d  ESS %.0f  %.1f s", row.Name,
		float64(w.Z), w.Moment, w.Name, float64(row.Rhat), row.Divergences, float64(row.LeastESS), row.Seconds)
}

func (r *posteriorReport) conclude() {
	var all []float64
	for _, w := range r.Rows {
		for _, s := range w.Z {
			all = append(all, float64(s.Z))
		}
	}
	r.Scores = len(all)
	if r.Scores > 0 {
		// Šidák's threshold.
		r.Threshold = math.Sqrt2 * math.Erfinv(math.Pow(1-familyWise, 1/float64(r.Scores)))
		r.Kolmogorov = kolmogorov(all)
	}
	for i := range r.Rows {
		w := &r.Rows[i]
		if w.Reason != "" {
			w.Failures = []string{w.Reason}
			continue
		}
		for _, s := range w.Z {
			if !(math.Abs(float64(s.Z)) <= r.Threshold) {
				w.Failures = append(w.Failures, fmt.Sprintf("%s of %s: z %.2f", s.Moment, s.Name, float64(s.Z)))
			}
		}
		if !(w.Rhat <= maxRhat) {
			w.Failures = append(w.Failures, fmt.Sprintf("R-hat %.3f", float64(w.Rhat)))
		}
		if float64(w.Divergences) > maxDivergentShare*float64(w.Draws) {
			w.Failures = append(w.Failures, fmt.Sprintf("%d divergences", w.Divergences))
		}
		if len(w.Failures) > 0 && (w.StanRhat > maxRhat || float64(w.StanDivergences) > maxDivergentShare*float64(w.Draws)) {
			w.Failures = append(w.Failures, "so does Stan's NUTS")
		}
	}
}

// kolmogorov returns the distance between an empirical distribution and the standard normal.
func kolmogorov(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	d, n := 0.0, float64(len(v))
	for i, x := range v {
		p := math.Erfc(-x/math.Sqrt2) / 2
		d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	return d
}

func (r *posteriorReport) failures() int {
	n := 0
	for _, w := range r.Rows {
		if len(w.Failures) > 0 {
			n++
		}
	}
	return n
}

func (r *posteriorReport) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d posteriors pass. %d z-scores (of each parameter's mean and mean square), largest allowed %.2f (%.0f %% family-wise); "+
		"Kolmogorov distance to the standard normal %.3f (independent scores: below %.3f in 95 %% of runs).\n",
		len(r.Rows)-r.failures(), len(r.Rows), r.Scores, r.Threshold, 100*familyWise, r.Kolmogorov, 1.358/math.Sqrt(float64(max(r.Scores, 1))))
	again := 0
	for _, w := range r.Rows {
		if w.Runs > 1 {
			again++
		}
	}
	if again > 0 {
		fmt.Fprintf(&b, "%d of them took more than one run.\n", again)
	}
	for _, w := range r.Rows {
		if len(w.Failures) > 0 {
			fmt.Fprintf(&b, "\n- %s: %s", w.Name, strings.Join(w.Failures, "; "))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *posteriorReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Posteriors\n\n%s\n", r.made("posterior"))
	fmt.Fprintf(&b, "NUTS with Stan's defaults, 4 chains of %d draws after as many of warm-up, seed %d, is compared with posteriordb's reference draws. "+
		"A z-score is the difference of two means over its standard error, which has the Monte Carlo errors of both sides. A posterior fails by a score beyond the threshold, "+
		"an R-hat above %v, or divergences of more than %.0f %% of the draws. The scores of one posterior depend on each other. Chains start at random and can stay in a minor mode. So if R-hat is above its limit, the run is repeated with the next seed, "+
		"up to %d runs in all. The figures are those of the last run.\n\n", r.options.draws, r.options.seed, maxRhat, 100*maxDivergentShare, r.options.runs)
	b.WriteString(r.summary())
	b.WriteString("\n| posterior | parameters | largest score | of | R-hat | divergences | least ESS | seconds | runs | R-hat, divergences of Stan |\n| --- | --: | --: | --- | --: | --: | --: | --: | --: | --: |\n")
	for i := range r.Rows {
		w := &r.Rows[i]
		if w.Reason != "" {
			fmt.Fprintf(&b, "| %s | – | – | %s | – | – | – | – | – | – |\n", w.Name, w.Reason)
			continue
		}
		z := w.worst()
		stan := "–"
		if w.StanRhat > 0 {
			stan = fmt.Sprintf("%.3f, %d", w.StanRhat, w.StanDivergences)
		}
		fmt.Fprintf(&b, "| %s | %d | %.2f | %s of %s | %.3f | %d | %.0f | %s | %d | %s |\n", w.Name, len(w.Z)/2, float64(z.Z), z.Moment, z.Name,
			float64(w.Rhat), w.Divergences, float64(w.LeastESS), figures.Number(w.Seconds), w.Runs, stan)
	}
	return b.String()
}
