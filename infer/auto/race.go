package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// The constants of the race.
const (
	fewestBatches = 4 // that tell anything
	finals        = 3 * 2
	tailTries     = 6   // of a static kernel at a tail
	gentler       = 2   // how often steps that tails reject are halved
	raceNoise     = 0.4 // variance of a batch's reward in units in which the rewards' range is 4
)

// arms are the grids of the static kernels: step size, in units of the metric, and
// number of steps.
var arms = map[Kind]bayesopt.Grid{
	ExactNormal: {bayesopt.LogAxis(0.35, 1.75, 9), {Values: []float64{1, 2, 3, 4}, Log: true}},
	Leapfrog:    {bayesopt.LogAxis(0.2, 1.4, 10), {Values: []float64{1, 2, 3, 4, 6, 8, 12, 16}, Log: true}},
}

// firstArms are tried first: what is best in theory on a target that is normal, or
// nearly so.
var firstArms = map[Kind][][2]float64{
	ExactNormal: {{math.Pi / 2, 1}, {math.Pi / 4, 2}, {1, 1}},
	Leapfrog:    {{1.1, 1}, {0.75, 2}, {0.6, 3}},
}

// near reports whether the target is so close to normal that trajectories of fixed
// length can be trusted: what they do in tails that warm-up has hardly seen is not
// known from trying them. One direction that is far from normal is enough to doubt
// it; the divergence is a mean over all.
func (v *verdict) near() bool {
	return v.at.near(v.divergence, v.metric.Dim)
}

func (at *limits) near(divergence float64, d int) bool {
	return divergence*math.Sqrt(float64(d)) < at.nearNormal
}

// ofRace is the number of transitions that the race takes: of NUTS, of its batches, and of
// the best of two families and of a gentler one, at greater length.
func (s Sampler) ofRace() int { return (2 + s.RaceLength + finals) * s.RaceBatch }

// race chooses the kernel, in the transitions that are left of warm-up.
func (w *chain) race(v *verdict) error {
	o, err := newWatched(v, infer.Stream(w.Seed, 0, "race", 0))
	if err != nil {
		return err
	}
	n := w.options.RaceBatch
	// NUTS, whose step size is adapted to the metric in use.
	w.kernel.use(Setting{Kind: NUTS})
	avg := warmup.NewDualAveraging(w.averaging(w.delta), w.StepSize)
	adapt := func(info infer.Info) { w.StepSize = avg.Update(info.AcceptStat) }
	left := w.length - w.made
	length := min(2*n, left)
	batches := min(w.options.RaceLength, (left-length)/n-finals)
	short := batches < min(fewestBatches, w.options.RaceLength)
	ofNUTS, err := w.share(o, length, adapt)
	if err != nil {
		return err
	}
	if length > 0 {
		w.StepSize = avg.Final()
	}
	if w.StepSize, err = w.meanStep(); err != nil {
		return err
	}
	nutsStep := w.StepSize
	keep := func(why string) error {
		w.kernel.use(Setting{Kind: NUTS})
		w.StepSize = nutsStep
		if err := w.rest(w.options.StepSize == 0); err != nil {
			return err
		}
		nutsStep = w.StepSize
		w.note(fmt.Sprintf("Kernel: NUTS with step size %.3g%s; %s.", nutsStep, w.ofSteps(v), why))
		return nil
	}
	switch k := w.options.Kind; {
	case k == NUTS:
		nutsStep = cmp.Or(w.options.StepSize, nutsStep)
		return keep("it was asked for")
	case k == "" && short:
		return keep("warm-up was too short to try others")
	case k == "" && !v.near():
		return keep("the target is too far from normal for trajectories of fixed length")
	case k == "" && v.vanishes:
		// The logarithm of such a scale has an exponential tail, which they walk through slowly.
		return keep("scales of effects may be 0, where trajectories of fixed length stay long")
	case k == "" && v.divergences >= fewDivergent:
		return keep("there were divergences")
	}
	given := w.options.Steps > 0 && w.options.StepSize > 0
	if short || given {
		x := firstArms[w.options.Kind][0]
		use := Setting{w.options.Kind, cmp.Or(w.options.Steps, int(x[1]))}
		w.kernel.use(use)
		w.StepSize = cmp.Or(w.options.StepSize, x[0])
		why := "warm-up was too short to try others"
		if given {
			why = "it was asked for"
		}
		w.note(fmt.Sprintf("Kernel: %v of size %.3g; %s.", use, w.StepSize, why))
		return w.rest(false)
	}
	type entry struct {
		kind  Kind
		tuner *bayesopt.Tuner
		first [][2]float64
		tried int
	}
	var entries []*entry
	for _, kind := range []Kind{ExactNormal, Leapfrog} {
		if w.options.Kind != "" && w.options.Kind != kind {
			continue
		}
		grid := arms[kind]
		if s := w.options.Steps; s > 0 {
			grid = bayesopt.Grid{grid[0], {Values: []float64{float64(s)}, Log: true}}
		}
		if eps := w.options.StepSize; eps > 0 {
			grid = bayesopt.Grid{{Values: []float64{eps}, Log: true}, grid[1]}
		}
		tuner, err := bayesopt.NewTuner(grid, bayesopt.Options{Scale: bayesopt.ScaleRange, NoiseVariance: raceNoise, LengthScale: 0.3}, 0, 0, 1)
		if err != nil {
			return err
		}
		entries = append(entries, &entry{kind: kind, tuner: tuner, first: firstArms[kind]})
	}
	play := func(e *entry, point int, n int) (outcome, error) {
		x := e.tuner.Grid().Point(point)
		w.kernel.use(Setting{e.kind, int(x[1])})
		w.StepSize = x[0]
		return w.share(o, n, func(infer.Info) {})
	}
	// Batches go to the family that has the better best so far, each having had its
	// first arms.
	best := func(e *entry) float64 {
		if _, r, ok := e.tuner.Best(); ok {
			return r
		}
		return 0
	}
	for batch := range batches {
		e := entries[batch%len(entries)]
		if len(entries) == 2 && entries[0].tried >= 3 && entries[1].tried >= 2 {
			e = entries[0]
			if best(entries[1]) > best(entries[0]) {
				e = entries[1]
			}
		}
		if e.tried < len(e.first) {
			first := e.first[e.tried]
			e.tuner.Use(e.tuner.Grid().Nearest(first[0], first[1]))
		}
		result, err := play(e, e.tuner.Point(), n)
		if err != nil {
			return err
		}
		e.tried++
		e.tuner.End(result.reward, true, 0)
	}
	// final tries a setting at greater length, as it would be used.
	final := func(kind Kind, x [2]float64) (outcome, error) {
		w.kernel.use(Setting{kind, int(x[1])})
		if w.options.Kind == "" {
			w.kernel.relief = nutsStep
		}
		w.StepSize = x[0]
		return w.share(o, 2*n, func(infer.Info) {})
	}
	refused := func(r outcome) bool { return r.divergent > 0 || r.accept < w.at.leastAccept }
	// The best of each is tried once more: its reward so far is the largest of noisy
	// figures. The better family comes first; the other one need not be tried if it is far
	// behind, unless the first is refused.
	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(best(b), best(a)) })
	var chosen *entry
	var of outcome
	var setting [2]float64
	for _, e := range entries {
		if e.tried == 0 {
			continue
		}
		if chosen != nil && !refused(of) && best(e) < 0.7*best(chosen) {
			continue
		}
		e.tuner.Freeze()
		x := e.tuner.Grid().Point(e.tuner.Point())
		result, err := final(e.kind, [2]float64{x[0], x[1]})
		if err != nil {
			return err
		}
		if chosen == nil || refused(of) && !refused(result) || refused(of) == refused(result) && result.reward > of.reward {
			chosen, of = e, result
			setting = [2]float64{x[0], x[1]}
		}
	}
	over := func(r outcome) float64 { return r.reward / max(ofNUTS.reward, 1e-12) }
	ratio := over(of)
	tail, err := w.acceptInTails(v, chosen.kind, setting)
	if err != nil {
		return err
	}
	// Where tails would reject it the same length in smaller steps may do.
	for k, x := 0, setting; k < gentler && w.options.Kind == "" && tail < w.at.tailAccept && ratio >= w.at.advantage; k++ {
		x[0], x[1] = x[0]/2, 2*x[1]
		t, err := w.acceptInTails(v, chosen.kind, x)
		if err != nil {
			return err
		}
		if t < w.at.tailAccept {
			continue
		}
		if of, err = final(chosen.kind, x); err != nil {
			return err
		}
		tail, setting, ratio = t, x, over(of)
	}
	w.kernel.told["race_ratio"] = ratio
	w.kernel.told["tail_acceptance"] = tail
	use := Setting{chosen.kind, int(setting[1])}
	if w.options.Kind == "" {
		switch {
		case refused(of):
			return keep("trajectories of fixed length are rejected too often somewhere")
		case ratio >= w.at.advantage && tail < w.at.tailAccept:
			return keep("trajectories of fixed length would be rejected in the tails")
		case ratio < w.at.advantage:
			return keep(fmt.Sprintf("the best trajectories of fixed length are worth %.2g times as much per gradient", ratio))
		}
	}
	w.kernel.use(use)
	if w.options.Kind == "" {
		w.kernel.relief = nutsStep
	}
	w.StepSize = setting[0]
	with := ""
	if w.kernel.relief > 0 {
		with = fmt.Sprintf(", with NUTS of step size %.3g for every %dth transition", nutsStep, reliefEvery)
	}
	w.note(fmt.Sprintf("Kernel: %v of size %.3g%s; it is worth %.2g times NUTS per gradient.", use, setting[0], with, ratio))
	return w.rest(false)
}

// rest makes what the race has not needed of its transitions, if all of warm-up was asked for, with
// the kernel that was chosen, and with adapt learns more about the step size of NUTS.
func (w *chain) rest(adapt bool) error {
	left := w.length - w.made
	if !w.options.NoEarlyEnd || left <= 0 {
		return nil
	}
	avg := warmup.NewDualAveraging(w.averaging(w.delta), w.StepSize)
	for range left {
		info, err := w.Advance()
		if err != nil {
			return err
		}
		if adapt {
			w.StepSize = avg.Update(info.AcceptStat)
		}
	}
	w.made += left
	if !adapt {
		return nil
	}
	w.StepSize = avg.Final()
	var err error
	w.StepSize, err = w.meanStep()
	return err
}

// ofSteps says how the steps of NUTS differ from those that are usual.
func (w *chain) ofSteps(v *verdict) string {
	s := ""
	if v.refined >= 0.001 {
		s = fmt.Sprintf(", %.2g %% of its steps made of smaller ones", 100*v.refined)
	}
	if w.delta != w.options.Delta {
		s += fmt.Sprintf(", for an acceptance of %.2g as transitions diverged", w.delta)
	}
	return s
}

// acceptInTails is the least mean acceptance of a static kernel at the tails, of which each
// chain tries some.
func (w *chain) acceptInTails(v *verdict, kind Kind, setting [2]float64) (float64, error) {
	w.kernel.use(Setting{kind, int(setting[1])})
	w.h.Rotate = kind == ExactNormal
	least := 1.0
	z := infer.NewPoint(w.Target.Dim())
	for k, x := range v.tails {
		if k%v.chains != w.Chain%v.chains {
			continue
		}
		copy(z.Position, x)
		if err := w.h.Reset(z); err != nil {
			return 0, err
		}
		if math.IsInf(z.LogDensity, -1) {
			continue
		}
		sum := 0.0
		for range tailTries {
			_, info, err := w.kernel.static.Transition(w.Rng, w.h, setting[0], z)
			if err != nil {
				return 0, err
			}
			sum += info.AcceptStat
		}
		least = min(least, sum/tailTries)
	}
	all, err := w.Exchange(least, func(parts []any) any {
		least := 1.0
		for _, p := range parts {
			if v, ok := p.(float64); ok {
				least = min(least, v)
			}
		}
		return least
	})
	if err != nil {
		return 0, err
	}
	return all.(float64), nil
}

// share makes a batch, which all chains make, and returns its outcome.
func (w *chain) share(o *watched, n int, each func(infer.Info)) (outcome, error) {
	own, err := w.batch(o, n, each)
	if err != nil {
		return outcome{}, err
	}
	all, err := w.Exchange(own, func(parts []any) any { return o.worth(parts) })
	if err != nil {
		return outcome{}, err
	}
	return all.(outcome), nil
}

// meanStep is the geometric mean of the step sizes of all chains.
func (w *chain) meanStep() (float64, error) {
	all, err := w.Exchange(w.StepSize, func(parts []any) any {
		sum, n := 0.0, 0.0
		for _, p := range parts {
			if eps, ok := p.(float64); ok {
				sum += math.Log(eps)
				n++
			}
		}
		return math.Exp(sum / n)
	})
	if err != nil {
		return 0, err
	}
	return all.(float64), nil
}
