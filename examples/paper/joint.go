package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/study"
)

// jointReach is the largest beta that models/cox_joint.model allows. Beyond it, the torus with
// twice the side has negative eigenvalues, see reachTable.
const jointReach = 0.2

// trueReach is the beta from which the data were made.
const trueReach = 1. / 33

// calibration is the size of the simulation-based calibration of that model.
type calibration struct {
	d, simulations, ranks, thin, warmup int
}

var (
	jointNUTSArm = arm{name: "nuts", title: "NUTS, diagonal metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Diagonal}}}
	jointAHMCArm = arm{name: "ahmc", title: "AHMC, box found, reward per gradient", sampler: ahmc.Sampler{Cost: ahmc.CostDrawn}}
)

// jointPosterior returns the posterior of the process with its hyper-parameters.
func (c *cox) jointPosterior() (*ppl.Posterior, error) {
	m, err := compileModel("cox_joint.model")
	if err != nil {
		return nil, err
	}
	return m.Bind(map[string]any{"d": c.d, "y": c.y, "mu": coxMean, "reach": jointReach})
}

// loadJoint makes the data of the process. If the grid is too large for the matrices of its parts,
// the field is drawn in the way in which the joint model represents it.
func loadJoint(d int) (*cox, error) {
	if d <= coxSide {
		return loadCox(coxVariants[1], "", d)
	}
	c := &cox{variant: coxVariants[1], d: d, y: make([]int, d*d)}
	target, err := c.jointPosterior()
	if err != nil {
		return nil, err
	}
	rng := infer.Stream(masterSeed, 0, fmt.Sprintf("data cox %s %d", c.variant.name, d), 0)
	x := make([]float64, target.Dim())
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	x[0], x[1] = trueHyper()
	c.truth = reportJoint(target, c)(x)[2:]
	for i, v := range c.truth {
		c.y[i] = poisson(rng, math.Exp(v)/float64(d*d))
	}
	return c, nil
}

// trueHyper returns the unconstrained values of the hyper-parameters from which the data were made.
func trueHyper() (variance, beta float64) {
	return math.Log(coxVariance), math.Log(trueReach / (jointReach - trueReach))
}

// joint samples the Cox process together with its hyper-parameters, as the paper says, and makes
// the calibration.
func joint(ctx context.Context, w *workshop) error {
	book, err := w.open("joint")
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# The log-Gaussian Cox process with its hyper-parameters\n\n")
	w.preface(&b)
	fmt.Fprintf(&b, "The paper says that the field and its hyper-parameters were sampled jointly; with a matrix of all cells that takes a Cholesky factor of it for each step.\n"+
		"[cox_joint.model](../../examples/paper/models/cox_joint.model) has the field as a part of one on a torus of twice the side, whose covariance Fourier transforms make diagonal.\n"+
		"Both variance and beta have Gamma(2, 2) priors, as with Girolami and Calderhead; that of beta ends at %g, because the torus has negative eigenvalues beyond (below).\n"+
		"Data: B, simulated with a variance of %g and beta 1/33 = 0.0303.\n\n", jointReach, coxVariance)
	t := table{head: []string{"cells", "dimensions", "sampler", "chains", "transitions", "parameter", "mean", "standard deviation", "truth", "ESS of all chains", "per 1000 gradients"}}
	u := table{head: []string{"cells", "sampler", "chains", "step size", "steps per draw", "acceptance", "divergences", "R-hat, parameters and cells", "least ESS of a cell", "per 1000 gradients, honest", "ms per gradient", "cells whose true field is within 1.645 standard deviations", "the same of cells without points"}}
	var maps []*cox
	var means [][]*result
	for _, size := range w.protocol.joint {
		c, err := loadJoint(size.d)
		if err != nil {
			return err
		}
		target, err := c.jointPosterior()
		if err != nil {
			return err
		}
		p := problem{book: book, exhibit: "joint", name: fmt.Sprintf("B-%d", c.d), kind: w.kind(), target: target, present: reportJoint(target, c)}
		if w.short > 1 {
			p.kind += fmt.Sprintf("-short%d", w.short)
		}
		for i := range size.plan.chains {
			rng := infer.Stream(masterSeed, i+1, "start joint", 0)
			x := make([]float64, target.Dim())
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			if i%2 == 1 { // every second chain starts at the true hyper-parameters
				x[0], x[1] = trueHyper()
			}
			p.starts = append(p.starts, x)
		}
		perGradient, err := gradientTime(target, p.starts[0])
		if err != nil {
			return err
		}
		groups, err := w.runArms(ctx, "joint, "+p.name, p, []arm{jointNUTSArm, jointAHMCArm}, func(arm) plan { return size.plan })
		if err != nil {
			return err
		}
		if len(groups) > 0 {
			fmt.Fprintf(&b, "%d × %d cells: %v.\n\n", c.d, c.d, size.plan)
		}
		for _, g := range groups {
			var mean, sd, ess []float64
			if drawn(g.results) {
				mean, sd, ess = pool(g.results)
			}
			of := func(quantity string, f func() float64) float64 { return book.figure(p.name, g, quantity, f) }
			gradients := 0.0
			for _, r := range g.results {
				gradients += float64(r.WarmupGradients + r.Gradients)
			}
			cells := fmt.Sprintf("%d × %d", c.d, c.d)
			for i, name := range []string{"variance", "beta"} {
				e := of(name+"_ess", func() float64 { return ess[i] })
				t.add(cells, fmt.Sprint(target.Dim()), g.title, counts(g.results), lengths(g.results), name, short(of(name, func() float64 { return mean[i] })), short(of(name+"_sd", func() float64 { return sd[i] })),
					short([]float64{coxVariance, trueReach}[i]), short(e), short(1000*e/gradients))
			}
			// within computes the share of cells whose true field is in the 90 % interval.
			within := func(among func(count int) bool) func() float64 {
				return func() float64 {
					n, inside := 0.0, 0.0
					for i, x := range c.truth {
						if !among(c.y[i]) {
							continue
						}
						n++
						if math.Abs(x-mean[2+i]) < 1.645*sd[2+i] {
							inside++
						}
					}
					return inside / n
				}
			}
			average := func(f func(*result) float64) string { return short(summarise(values(g.results, f)).mean) }
			leastESS := of("least_ess_cell", func() float64 { return least(ess[2:]) })
			u.add(cells, g.title, counts(g.results), average(func(r *result) float64 { return r.StepSize }),
				average(func(r *result) float64 { return float64(r.Leapfrogs) / float64(r.Draws) }), average(func(r *result) float64 { return r.AcceptStat }), fmt.Sprint(divergences(g.results)),
				fourDigits(book.rhat(p.name, g)), short(leastESS), short(1000*leastESS/gradients), short(of("ms_per_gradient", func() float64 { return perGradient })),
				percent(of("cells_within", within(func(int) bool { return true }))), percent(of("empty_cells_within", within(func(y int) bool { return y == 0 }))))
			if g.name == jointNUTSArm.name && mean != nil {
				maps, means = append(maps, c), append(means, g.results)
			}
		}
	}
	t.markdown(&b)
	u.markdown(&b)
	if len(maps) > 0 {
		if err := w.plotJoint(maps, means); err != nil {
			return err
		}
	}
	w.picture(&b, "the field", "joint")
	if err := w.otherData(ctx, book, &b); err != nil {
		return err
	}
	reachTable(&b)
	if err := w.calibrationTable(ctx, book, &b); err != nil {
		return err
	}
	return errors.Join(w.write(book.name+".md", b.String()), book.close())
}

// reportJoint returns a function that computes variance, beta and the field of the cells at a
// position.
func reportJoint(p *ppl.Posterior, c *cox) func([]float64) []float64 {
	clone := p.Clone()
	var mu sync.Mutex // chains share it
	return func(x []float64) []float64 {
		mu.Lock()
		defer mu.Unlock()
		v, err := clone.Constrain(x)
		if err != nil {
			return slices.Repeat([]float64{math.NaN()}, 2+len(c.y))
		}
		return append(slices.Clone(v[:2]), v[len(v)-len(c.y):]...)
	}
}

// jointData says how many other data sets the joint model is fitted to, and on what grid.
type jointData struct {
	number int
	size   coxSize
	fine   int // side of the finer grid whose cells are joined
}

// otherData fits the joint model to data sets that differ only by chance, and to the data of the
// largest grid with its cells joined.
func (w *workshop) otherData(ctx context.Context, book *book, b *strings.Builder) error {
	n := w.protocol.jointData
	fmt.Fprintf(b, "## Other data\n\nThe joint model on %d other data sets of %d × %d cells that the same hyper-parameters make, variance %g and beta %s, and on the data of\n"+
		"%d × %d cells with cells joined: NUTS, %v on each. \"Pairs\" are ordered pairs of points in a cell, in the grid's units.\n\n",
		n.number, n.size.d, n.size.d, coxVariance, short(trueReach), n.fine, n.fine, n.size.plan)
	fine, err := loadCox(coxVariants[1], "", n.fine)
	if err != nil {
		return err
	}
	joinedCounts := fine.joined(n.size.d)
	w.pairsShare(book, fine, n.size.d, b)
	t := table{head: []string{"data", "points", "pairs", "variance", "its distance from the truth, in standard deviations", "beta", "R-hat"}}
	for number := range n.number + 1 {
		c, err := loadCox(coxVariants[1], "", n.size.d)
		if err != nil {
			return err
		}
		name, title := fmt.Sprintf("B-%d-data%d", c.d, number), fmt.Sprint(number)
		if number > 0 {
			c.simulate(number)
		} else {
			c.y = joinedCounts
			title = fmt.Sprintf("%d × %d, joined", fine.d, fine.d)
		}
		target, err := c.jointPosterior()
		if err != nil {
			return err
		}
		start := make([]float64, target.Dim())
		rng := infer.Stream(masterSeed, 1, "start joint", 0)
		for i := range start {
			start[i] = rng.NormFloat64()
		}
		p := problem{book: book, exhibit: "joint", name: name, kind: w.kind(), target: target, present: reportJoint(target, c), starts: [][]float64{start}}
		groups, err := w.runArms(ctx, "joint, data "+title, p, []arm{jointNUTSArm}, func(arm) plan { return n.size.plan })
		if err != nil {
			return err
		}
		for _, g := range groups {
			of := func(quantity string, f func(r *result) float64) float64 {
				return book.figure(name, g, quantity, func() float64 { return f(g.results[0]) })
			}
			variance, sd := of("variance", func(r *result) float64 { return r.Mean[0] }), of("variance_sd", func(r *result) float64 { return r.SD[0] })
			points, pairs := c.points()
			t.add(title, fmt.Sprint(points), fmt.Sprint(pairs), short(variance)+" ± "+short(sd), short((variance-coxVariance)/sd),
				short(of("beta", func(r *result) float64 { return r.Mean[1] }))+" ± "+short(of("beta_sd", func(r *result) float64 { return r.SD[1] })), fourDigits(book.rhat(name, g)))
		}
	}
	t.markdown(b)
	return nil
}

// simulatedForPairs is the number of data sets from which the usual number of pairs of points is
// found.
const simulatedForPairs = 400

// pairsShare finds the share of the data sets from the same hyper-parameters that have as few pairs
// of points in a cell as these data, on their grid and on a coarser one. It leaves c with the
// counts of the last simulated data set.
func (w *workshop) pairsShare(book *book, c *cox, coarse int, b *strings.Builder) {
	pairs := func() [2]int {
		_, fine := c.points()
		joined := *c
		joined.y = c.joined(coarse)
		_, wide := joined.points()
		return [2]int{fine, wide}
	}
	ours := pairs()
	points, _ := c.points()
	names := [4]string{"pairs_share", "pairs_joined_share", "pairs_mean", "pairs_joined_mean"}
	var shares [4]float64
	known := true
	for i, name := range names {
		shares[i], _ = book.note(figure{fmt.Sprintf("B-%d", c.d), "simulated", 0, simulatedForPairs, name, math.NaN()})
		known = known && !math.IsNaN(shares[i])
	}
	if !known {
		shares = [4]float64{}
		for number := range simulatedForPairs {
			c.simulate(number + 1)
			for i, v := range pairs() {
				if v <= ours[i] {
					shares[i] += 1. / simulatedForPairs
				}
				shares[2+i] += float64(v) / simulatedForPairs
			}
		}
		for i, name := range names {
			book.note(figure{fmt.Sprintf("B-%d", c.d), "simulated", 0, simulatedForPairs, name, shares[i]})
		}
	}
	fmt.Fprintf(b, "The data of %d × %d cells have %d points, with %d pairs in a cell, and %d in one of %d × %d: of %d data sets that the same hyper-parameters make %s and %s have\n"+
		"as few, which have %s and %s on average.\n\n", c.d, c.d, points, ours[0], ours[1], coarse, coarse, simulatedForPairs, percent(shares[0]), percent(shares[1]), short(shares[2]), short(shares[3]))
}

// gradientTime returns the shortest of several times of a gradient, in milliseconds.
func gradientTime(p *ppl.Posterior, x []float64) (float64, error) {
	best := math.Inf(1)
	grad := make([]float64, len(x))
	for range 20 {
		began := time.Now()
		if _, err := p.LogDensityGrad(x, grad); err != nil {
			return 0, err
		}
		best = min(best, 1000*time.Since(began).Seconds())
	}
	return best, nil
}

// leastEigenvalue returns the least eigenvalue of the covariance exp(-distance / (beta d)) on a
// torus whose side is a multiple, times, of d.
func leastEigenvalue(d, times int, beta float64) float64 {
	m := d * times
	transform := fourier.NewCmplxFFT(m)
	rows := make([][]complex128, m)
	for i := range rows {
		rows[i] = make([]complex128, m)
		for j := range rows[i] {
			rows[i][j] = complex(math.Exp(-math.Hypot(float64(min(i, m-i)), float64(min(j, m-j)))/(beta*float64(d))), 0)
		}
		transform.Coefficients(rows[i], rows[i])
	}
	lowest, column := math.Inf(1), make([]complex128, m)
	for j := range m {
		for i := range m {
			column[i] = rows[i][j]
		}
		transform.Coefficients(column, column)
		for _, v := range column {
			lowest = min(lowest, real(v))
		}
	}
	return lowest
}

// reachTable writes for which beta and which torus the covariance is positive definite.
func reachTable(b *strings.Builder) {
	const d = 64
	fmt.Fprintf(b, "Least eigenvalue of the correlation of %d × %d cells on a torus of 2, 4 and 8 times the side. A is beta = 64/33: no torus of these embeds it.\n\n", d, d)
	t := table{head: []string{"beta", fmt.Sprint(2 * d), fmt.Sprint(4 * d), fmt.Sprint(8 * d)}}
	for _, beta := range []float64{trueReach, 0.1, jointReach, 0.25, 0.4, 0.5, 1, 64. / 33} {
		row := []string{short(beta)}
		for _, times := range []int{2, 4, 8} {
			row = append(row, short(leastEigenvalue(d, times, beta)))
		}
		t.add(row...)
	}
	t.markdown(b)
}

// kept is a simulation of the calibration in the form stored in a file.
type kept struct {
	Divergences int
	Ranks       []int // of the parameters
}

// calibrationStep is the number of simulations between writes of the file.
const calibrationStep = 25

// calibrate makes the simulations of the calibration that are missing, and returns all.
func (w *workshop) calibrate(ctx context.Context) ([]kept, error) {
	n := w.protocol.calibration
	m, err := compileModel("cox_joint.model")
	if err != nil {
		return nil, err
	}
	values := map[string]any{"d": n.d, "y": make([]int, n.d*n.d), "mu": coxMean, "reach": jointReach}
	posterior, err := m.Bind(values)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(w.out, "chains", fmt.Sprintf("calibration-%s-%d", w.protocol.kind, n.d))
	var done []kept
	if err := readGob(folder+".gob", &done); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if w.report || len(done) >= n.simulations {
		return done, nil
	}
	simulator, err := assess.NewSimulator(ctx, m, values, n.simulations, masterSeed, assess.SimulatorOptions{})
	if err != nil {
		return nil, err
	}
	unit, err := study.NewModel("cox_joint", m, false)
	if err != nil {
		return nil, err
	}
	transitions := n.warmup + n.ranks*n.thin
	w.progress.begin("calibration", n.simulations, n.simulations*transitions)
	for range done {
		w.progress.skip(transitions)
	}
	// A study returns its results only at its end. A study with more simulations begins with the
	// same simulations as a smaller one.
	for count := len(done); count < n.simulations; {
		count = min(count+calibrationStep, n.simulations)
		plan := &study.Plan{
			Parts:   []study.Part{{Models: []*study.Model{unit}, Source: &study.Simulated{Simulator: simulator, Count: count, Seed: masterSeed}}},
			Seed:    masterSeed,
			Options: study.Options{"chains": "1", "warmup": strconv.Itoa(n.warmup), "draws": strconv.Itoa(n.ranks * n.thin), "thin": strconv.Itoa(n.thin)},
		}
		before := len(done)
		done = nil
		if _, err := study.Run(ctx, plan, study.RunOptions{Folder: folder, Each: func(_ *study.Unit, r *study.Result) error {
			if r.Status == study.Failed {
				return errors.New(r.Message)
			}
			rank := map[string]int{}
			for _, row := range r.Rows {
				rank[row.Name] = row.Rank
			}
			k := kept{Divergences: r.Divergences}
			for _, name := range posterior.ParameterNames() {
				k.Ranks = append(k.Ranks, rank[diagnose.DisplayName(name)])
			}
			done = append(done, k)
			return nil
		}}); err != nil {
			return nil, err
		}
		if err := writeGob(folder+".gob", done); err != nil {
			return nil, err
		}
		for range len(done) - before {
			w.progress.advance(transitions, 1)
		}
	}
	return done, nil
}

// calibrationTable writes the results of the simulation-based calibration.
func (w *workshop) calibrationTable(ctx context.Context, book *book, b *strings.Builder) error {
	n := w.protocol.calibration
	done, err := w.calibrate(ctx)
	if err != nil {
		return err
	}
	// of returns a figure of the ranks, or the earlier one if there are no simulations.
	of := func(what, quantity string, f func() float64) float64 {
		c := figure{fmt.Sprintf("calibration-%d", n.d), what, 0, len(done), quantity, math.NaN()}
		if len(done) > 0 {
			c.value = f()
		}
		v, _ := book.note(c)
		return v
	}
	count := of("data_sets", "number", func() float64 { return float64(len(done)) })
	if math.IsNaN(count) {
		return nil
	}
	band := uniformBand(int(count))
	divergences := of("data_sets", "divergences", func() float64 {
		d := 0.0
		for _, k := range done {
			d += float64(k.Divergences)
		}
		return d
	})
	fmt.Fprintf(b, "## Calibration\n\n%g data sets of %d × %d cells that the model draws itself: NUTS, %d transitions of warm-up, %d draws, one of %d transitions each; %g divergences in all. The rank of what made\n"+
		"the data among the draws must be uniform: the distance of its distribution function from that is below %s with probability 0.99 (Dvoretzky, Kiefer, Wolfowitz, Massart).\n\n",
		count, n.d, n.d, n.warmup, n.ranks, n.thin, divergences, short(band))
	place := func(i int) []float64 {
		v := make([]float64, len(done))
		for k, s := range done {
			v[k] = (float64(s.Ranks[i]) + 0.5) / float64(n.ranks+1)
		}
		return v
	}
	t := table{head: []string{"quantity", "distance", "mean rank, 0.5 expected", ""}}
	// The coefficients of the field are only partly exchangeable. Report the first, which is the
	// mean, one in the middle, and all together.
	for _, q := range []struct {
		name, key string
		at        int
	}{{"variance", "variance", 0}, {"beta", "beta", 1}, {"z, the mean", "z_first", 2}, {"z, a middle frequency", "z_middle", 2 + n.d*n.d + n.d/2}} {
		distance := of(q.key, "distance", func() float64 { return uniformDistance(place(q.at)) })
		mean := of(q.key, "mean_rank", func() float64 { m, _ := moments(place(q.at)); return m })
		t.add(q.name, short(distance), fmt.Sprintf("%.3f ± %.3f", mean, 1/math.Sqrt(12*count)), passed(distance, band))
	}
	t.markdown(b)
	coefficients := 4 * n.d * n.d
	all := func(f func(distance float64) float64, join func(a, b float64) float64) func() float64 {
		return func() float64 {
			v := 0.0
			for i := range coefficients {
				v = join(v, f(uniformDistance(place(2+i))))
			}
			return v
		}
	}
	beyond := of("z", "beyond", all(func(d float64) float64 {
		if d >= band {
			return 1 / float64(coefficients)
		}
		return 0
	}, func(a, b float64) float64 { return a + b }))
	largest := of("z", "largest_distance", all(func(d float64) float64 { return d }, func(a, b float64) float64 { return max(a, b) }))
	fmt.Fprintf(b, "Of the %d coefficients of the field %s are beyond that band, where 1 %% are expected; the largest distance is %s.\n", coefficients, percent(beyond), short(largest))
	return nil
}

// uniformBand returns the distance that the distribution function of n uniform numbers exceeds with
// probability 0.01.
func uniformBand(n int) float64 { return math.Sqrt(math.Log(2/0.01) / (2 * float64(n))) }

// uniformDistance returns the largest distance between the distribution function of numbers and the
// uniform one.
func uniformDistance(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	worst := 0.0
	for i, x := range s {
		worst = max(worst, math.Abs(float64(i+1)/float64(len(s))-x), math.Abs(float64(i)/float64(len(s))-x))
	}
	return worst
}
