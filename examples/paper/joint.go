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
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/study"
)

// jointReach is the largest beta of models/cox_joint.model: beyond it the torus of twice
// the side has negative eigenvalues, see reachTable.
const jointReach = 0.2

// calibration is the size of the calibration of that model.
type calibration struct {
	d, simulations, ranks, thin, warmup int
}

var (
	jointNUTSArm = arm{name: "nuts", title: "NUTS, diagonal metric", sampler: nuts.Sampler{Adapt: warmup.Options{Metric: infer.Diagonal}}}
	jointAHMCArm = arm{name: "ahmc", title: "AHMC, box found, reward per gradient", sampler: ahmc.Sampler{Cost: ahmc.CostDrawn}}
)

// jointPosterior is the process with its hyper-parameters.
func (c *cox) jointPosterior() (*ppl.Posterior, error) {
	m, err := compileModel("cox_joint.model")
	if err != nil {
		return nil, err
	}
	return m.Bind(map[string]any{"d": c.d, "y": c.y, "mu": coxMean, "reach": jointReach})
}

// joint: the Cox process as the paper says that it was sampled, with its
// hyper-parameters; and its calibration.
func joint(ctx context.Context, w *workshop) error {
	var csv, b strings.Builder
	csv.WriteString(csvHead)
	b.WriteString("# The log-Gaussian Cox process with its hyper-parameters\n\n")
	w.preface(&b)
	fmt.Fprintf(&b, "The paper says that the field and its hyper-parameters were sampled jointly; with a matrix of all cells that takes a Cholesky factor of it for each step.\n"+
		"[cox_joint.model](../../examples/paper/models/cox_joint.model) has the field as a part of one on a torus of twice the side, whose covariance Fourier transforms make diagonal.\n"+
		"Both variance and beta have Gamma(2, 2) priors, as with Girolami and Calderhead; that of beta ends at %g, because the torus has negative eigenvalues beyond (below).\n"+
		"Data: B, simulated with a variance of %g and beta 1/33 = 0.0303.\n\n", jointReach, coxVariance)
	t := table{head: []string{"cells", "dimensions", "sampler", "chains", "parameter", "mean", "standard deviation", "truth", "ESS of all chains", "per 1000 gradients"}}
	u := table{head: []string{"cells", "sampler", "chains", "step size", "steps per draw", "acceptance", "divergences", "R-hat, parameters and cells", "least ESS of a cell", "per 1000 gradients, honest", "ms per gradient", "cells whose true field is within 1.645 standard deviations", "the same of cells without points"}}
	var maps []*cox
	var means [][]*result
	for _, size := range w.protocol.joint {
		c, err := loadCox(coxVariants[1], "", size.d)
		if err != nil {
			return err
		}
		target, err := c.jointPosterior()
		if err != nil {
			return err
		}
		p := problem{exhibit: "joint", name: fmt.Sprintf("B-%d", c.d), kind: w.kind(), target: target, present: reportJoint(target, c)}
		if w.short > 1 {
			p.kind += fmt.Sprintf("-short%d", w.short)
		}
		for i := range size.plan.chains {
			rng := infer.Stream(masterSeed, i+1, "start joint", 0)
			x := make([]float64, target.Dim())
			for j := range x {
				x[j] = rng.NormFloat64()
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
		fmt.Fprintf(&b, "%d × %d cells: %v.\n\n", c.d, c.d, size.plan)
		for _, g := range groups {
			csvRows(&csv, p.name, g)
			mean, sd, ess := pool(g.results)
			gradients, divergences := 0.0, 0
			for _, r := range g.results {
				gradients += float64(r.WarmupGradients + r.Gradients)
				divergences += r.Divergences
			}
			for i, name := range []string{"variance", "beta"} {
				t.add(fmt.Sprintf("%d × %d", c.d, c.d), fmt.Sprint(target.Dim()), g.title, counts(g.results), name, short(mean[i]), short(sd[i]), short([]float64{coxVariance, 1. / 33}[i]), short(ess[i]), short(1000*ess[i]/gradients))
			}
			within, empty, emptyWithin := 0, 0, 0
			for i, x := range c.truth {
				inside := math.Abs(x-mean[2+i]) < 1.645*sd[2+i]
				if inside {
					within++
				}
				if c.y[i] == 0 {
					empty++
					if inside {
						emptyWithin++
					}
				}
			}
			average := func(f func(*result) float64) string { return short(summarise(values(g.results, f)).mean) }
			u.add(fmt.Sprintf("%d × %d", c.d, c.d), g.title, counts(g.results), average(func(r *result) float64 { return r.StepSize }),
				average(func(r *result) float64 { return float64(r.Leapfrogs) / float64(r.Draws) }), average(func(r *result) float64 { return r.AcceptStat }), fmt.Sprint(divergences),
				fmt.Sprintf("%.4f", rhat(g.results)), short(least(ess[2:])), short(1000*least(ess[2:])/gradients), short(perGradient), percent(float64(within)/float64(len(c.y))), percent(float64(emptyWithin)/float64(empty)))
			if g.name == jointNUTSArm.name {
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
		b.WriteString("![the field](joint.png)\n\n")
	}
	reachTable(&b)
	if err := w.calibrationTable(ctx, &b); err != nil {
		return err
	}
	return errors.Join(w.write("joint.csv", csv.String()), w.write("joint.md", b.String()))
}

// reportJoint makes variance, beta and the cells' field of a position.
func reportJoint(p *ppl.Posterior, c *cox) func([]float64) []float64 {
	clone := p.Copy()
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

// gradientTime is the least of a few times, in milliseconds.
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

// leastEigenvalue is that of the covariance exp(-distance / (beta d)) on a torus of so
// many times the side d.
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

// reachTable says where the embedding is positive definite.
func reachTable(b *strings.Builder) {
	const d = 64
	fmt.Fprintf(b, "Least eigenvalue of the correlation of %d × %d cells on a torus of 2, 4 and 8 times the side. A is beta = 64/33: no torus of these embeds it.\n\n", d, d)
	t := table{head: []string{"beta", fmt.Sprint(2 * d), fmt.Sprint(4 * d), fmt.Sprint(8 * d)}}
	for _, beta := range []float64{1. / 33, 0.1, jointReach, 0.25, 0.4, 0.5, 1, 64. / 33} {
		row := []string{short(beta)}
		for _, times := range []int{2, 4, 8} {
			row = append(row, short(leastEigenvalue(d, times, beta)))
		}
		t.add(row...)
	}
	t.markdown(b)
}

// kept is a simulation of the calibration in its file.
type kept struct {
	Divergences int
	Ranks       []int // of the parameters
}

// calibrationStep is how many simulations are made before a file is written.
const calibrationStep = 25

// calibrate runs simulation-based calibration as far as it has not been, and gives
// what there is.
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
	simulator, err := m.Simulator(ctx, values, n.simulations, masterSeed, ppl.SimulatorOptions{})
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
	// A study hands its results over at its end; one with more simulations begins with
	// those of one with fewer.
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

// calibrationTable judges simulation-based calibration.
func (w *workshop) calibrationTable(ctx context.Context, b *strings.Builder) error {
	n := w.protocol.calibration
	done, err := w.calibrate(ctx)
	if err != nil || len(done) == 0 {
		return err
	}
	divergences := 0
	for _, k := range done {
		divergences += k.Divergences
	}
	fmt.Fprintf(b, "## Calibration\n\n%d data sets of %d × %d cells that the model draws itself: NUTS, %d transitions of warm-up, %d draws, one of %d transitions each; %d divergences in all. The rank of what made\n"+
		"the data among the draws must be uniform: the distance of its distribution function from that is below %s with probability 0.99 (Dvoretzky, Kiefer, Wolfowitz, Massart).\n\n",
		len(done), n.d, n.d, n.warmup, n.ranks, n.thin, divergences, short(uniformBand(len(done))))
	t := table{head: []string{"quantity", "distance", "mean rank, 0.5 expected", ""}}
	add := func(name string, ranks []float64) {
		mean, _ := moments(ranks)
		d := uniformDistance(ranks)
		t.add(name, short(d), fmt.Sprintf("%.3f ± %.3f", mean, 1/math.Sqrt(12*float64(len(ranks)))), passed(d < uniformBand(len(ranks))))
	}
	place := func(i int) []float64 {
		v := make([]float64, len(done))
		for k, s := range done {
			v[k] = (float64(s.Ranks[i]) + 0.5) / float64(n.ranks+1)
		}
		return v
	}
	add("variance", place(0))
	add("beta", place(1))
	// Coefficients of the field are exchangeable only in part: the first, its mean, and one
	// in the middle, and all together.
	add("z, the mean", place(2))
	add("z, a middle frequency", place(2+n.d*n.d+n.d/2))
	worst, count := 0.0, 0
	for i := 2; i < len(done[0].Ranks); i++ {
		d := uniformDistance(place(i))
		worst = max(worst, d)
		if d >= uniformBand(len(done)) {
			count++
		}
	}
	t.markdown(b)
	fmt.Fprintf(b, "Of the %d coefficients of the field %s are beyond that band, where 1 %% are expected; the largest distance is %s.\n", len(done[0].Ranks)-2,
		percent(float64(count)/float64(len(done[0].Ranks)-2)), short(worst))
	return nil
}

// uniformBand is what the distance of n uniform numbers' distribution function exceeds
// with probability 0.01.
func uniformBand(n int) float64 { return math.Sqrt(math.Log(2/0.01) / (2 * float64(n))) }

// uniformDistance is that distance.
func uniformDistance(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	worst := 0.0
	for i, x := range s {
		worst = max(worst, math.Abs(float64(i+1)/float64(len(s))-x), math.Abs(float64(i)/float64(len(s))-x))
	}
	return worst
}
