package auto

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// Constants of the race.
const (
	minBatches = 4     // batches needed to conclude anything
	finals     = 3 * 2 // batches of the longer trials: two families, and smaller steps
	tailTries  = 6     // transitions of a static kernel from a tail point
	gentler    = 2     // number of times that a step size rejected in the tails is halved
	raceNoise  = 0.4   // variance of a batch's reward, in units in which the range of rewards is 4
)

// arms are the grids of settings of the static kernels: step size, in units of the metric, and
// number of steps.
var arms = map[Kind]bayesopt.Grid{
	ExactNormal: {bayesopt.LogAxis(0.35, 1.75, 9), {Values: []float64{1, 2, 3, 4}, Log: true}},
	Leapfrog:    {bayesopt.LogAxis(0.2, 1.4, 10), {Values: []float64{1, 2, 3, 4, 6, 8, 12, 16}, Log: true}},
}

// firstArms are the settings that are tried first. By theory they suit a normal or nearly normal
// target.
var firstArms = map[Kind][][2]float64{
	ExactNormal: {{math.Pi / 2, 1}, {math.Pi / 4, 2}, {1, 1}},
	Leapfrog:    {{1.1, 1}, {0.75, 2}, {0.6, 3}},
}

// near reports whether the target is close enough to normal to trust trajectories of fixed length.
// Trying them does not show how they behave in tails that warm-up hardly visited. The divergence is
// an average over all directions; one direction that is far from normal is reason enough for doubt.
func (v *verdict) near() bool {
	return v.at.near(v.divergence, v.metric.Dim)
}

func (at *limits) near(divergence float64, d int) bool {
	return divergence*math.Sqrt(float64(d)) < at.nearNormal
}

// ofRace returns the number of transitions of the race: those of NUTS, the batches, and longer
// trials of the best settings of two families and of one with smaller steps.
func (s Sampler) ofRace() int { return (2 + s.RaceLength + finals) * s.RaceBatch }

// race chooses the kernel within the remaining transitions of warm-up.
func (w *chain) race(v *verdict) error {
	o, err := newWatched(v, infer.Stream(w.Seed, 0, "race", 0))
	if err != nil {
		return err
	}
	r := &race{chain: w, verdict: v, watched: o}
	n := w.options.RaceBatch
	left := w.length - w.made
	length := min(2*n, left)
	r.batches = min(w.options.RaceLength, (left-length)/n-finals)
	if err := r.runNUTS(length); err != nil {
		return err
	}
	if why := r.noRace(); why != "" {
		return r.keepNUTS(why)
	}
	if r.short() || w.options.Steps > 0 && w.options.StepSize > 0 {
		return r.takeGiven()
	}
	if err := r.enter(); err != nil {
		return err
	}
	if err := r.heats(); err != nil {
		return err
	}
	if err := r.decide(); err != nil {
		return err
	}
	if err := r.tryTails(); err != nil {
		return err
	}
	if why := r.refusal(); why != "" {
		return r.keepNUTS(why)
	}
	return r.takeWinner()
}

// race compares static kernels with NUTS. It holds the settings tried and their results.
type race struct {
	*chain
	verdict *verdict
	watched *watched
	batches int // number of batches for which there is time

	nutsStep float64
	ofNUTS   outcome

	entries []*entry // the families of static kernels

	// The winner among the static kernels.
	kind    Kind
	setting [2]float64 // step size and number of steps
	of      outcome
	tail    float64 // its smallest mean acceptance from the points in the tails
	ratio   float64 // its reward divided by that of NUTS
}

// entry is one family of static kernels in the race.
type entry struct {
	kind  Kind
	tuner *bayesopt.Tuner
	first [][2]float64 // settings to try first
	tried int
}

// best returns the largest reward so far.
func (e *entry) best() float64 {
	if _, r, ok := e.tuner.Best(); ok {
		return r
	}
	return 0
}

// short reports whether there are too few batches to conclude anything.
func (r *race) short() bool { return r.batches < min(minBatches, r.options.RaceLength) }

// runNUTS makes transitions of NUTS and adapts its step size to the current metric.
func (r *race) runNUTS(length int) error {
	r.kernel.use(Setting{Kind: NUTS})
	avg := warmup.NewDualAveraging(r.averaging(r.delta), r.StepSize)
	var err error
	if r.ofNUTS, err = r.share(r.watched, length, true, func(info infer.Info) { r.StepSize = avg.Update(info.AcceptStat) }); err != nil {
		return err
	}
	if length > 0 {
		r.StepSize = avg.Final()
	}
	if r.StepSize, err = r.meanStep(); err != nil {
		return err
	}
	r.nutsStep = r.StepSize
	return nil
}

// noRace returns the reason why NUTS is chosen without a race; "" if there is a race.
func (r *race) noRace() string {
	switch k, v := r.options.Kind, r.verdict; {
	case k == NUTS:
		r.nutsStep = cmp.Or(r.options.StepSize, r.nutsStep)
		return "it was asked for"
	case k != "":
	case r.short():
		return "warm-up was too short to try others"
	case !v.near():
		return "the target is too far from normal for trajectories of fixed length"
	case v.vanishes:
		// If a scale may be 0, its logarithm has an exponential tail, through which trajectories
		// move slowly.
		return "scales of effects may be 0, where trajectories of fixed length stay long"
	case v.divergences >= fewDivergent:
		return "there were divergences"
	}
	return ""
}

// keepNUTS chooses NUTS.
func (r *race) keepNUTS(why string) error {
	r.kernel.use(Setting{Kind: NUTS})
	r.StepSize = r.nutsStep
	if err := r.rest(r.options.StepSize == 0); err != nil {
		return err
	}
	r.note(fmt.Sprintf("Kernel: NUTS. Its step size is %.3g%s; %s.", r.StepSize, r.ofSteps(r.verdict), why))
	return nil
}

// takeGiven chooses the static kernel and the setting that the user gave. If no setting was given
// and there is no time for a race, it uses the setting that is best in theory.
func (r *race) takeGiven() error {
	x := firstArms[r.options.Kind][0]
	use := Setting{r.options.Kind, cmp.Or(r.options.Steps, int(x[1]))}
	r.kernel.use(use)
	why := "warm-up was too short to try others"
	if r.options.Steps > 0 && r.options.StepSize > 0 {
		why = "it was asked for"
	}
	r.StepSize = cmp.Or(r.options.StepSize, x[0])
	r.note(fmt.Sprintf("Kernel: %v of size %.3g. Reason: %s.", use, r.StepSize, why))
	return r.rest(false)
}

// enter adds the families of static kernels that take part.
func (r *race) enter() error {
	for _, kind := range []Kind{ExactNormal, Leapfrog} {
		if r.options.Kind != "" && r.options.Kind != kind {
			continue
		}
		grid := arms[kind]
		if s := r.options.Steps; s > 0 {
			grid = bayesopt.Grid{grid[0], {Values: []float64{float64(s)}, Log: true}}
		}
		if eps := r.options.StepSize; eps > 0 {
			grid = bayesopt.Grid{{Values: []float64{eps}, Log: true}, grid[1]}
		}
		tuner, err := bayesopt.NewTuner(grid, bayesopt.Options{Scale: bayesopt.ScaleRange, NoiseVariance: raceNoise, LengthScale: 0.3}, 0, 0, 1)
		if err != nil {
			return err
		}
		r.entries = append(r.entries, &entry{kind: kind, tuner: tuner, first: firstArms[kind]})
	}
	return nil
}

// play makes n transitions with a static kernel. If asUsed is set, NUTS makes every reliefEvery-th
// of them, as it will after warm-up.
func (r *race) play(kind Kind, x [2]float64, n int, asUsed bool) (outcome, error) {
	r.kernel.use(Setting{kind, int(x[1])})
	if asUsed && r.options.Kind == "" {
		r.kernel.relief = r.nutsStep
	}
	r.StepSize = x[0]
	return r.share(r.watched, n, false, func(infer.Info) {})
}

// heats makes the batches. Each family first tries its first arms. Then each batch goes to the
// family with the larger reward so far.
func (r *race) heats() error {
	for batch := range r.batches {
		e := r.entries[batch%len(r.entries)]
		if len(r.entries) == 2 && r.entries[0].tried >= 3 && r.entries[1].tried >= 2 {
			e = r.entries[0]
			if r.entries[1].best() > r.entries[0].best() {
				e = r.entries[1]
			}
		}
		if e.tried < len(e.first) {
			first := e.first[e.tried]
			e.tuner.Use(e.tuner.Grid().Nearest(first[0], first[1]))
		}
		x := e.tuner.Grid().Point(e.tuner.Point())
		result, err := r.play(e.kind, [2]float64{x[0], x[1]}, r.options.RaceBatch, false)
		if err != nil {
			return err
		}
		e.tried++
		e.tuner.End(result.reward, true, 0)
	}
	return nil
}

// refused reports whether a static kernel must not be used, however large its reward is.
func (r *race) refused(o outcome) bool { return o.divergent > 0 || o.accept < r.at.minAccept }

// decide tries the best setting of each family once more, since the reward so far is the maximum of
// noisy numbers. It begins with the leading family. It skips the other family if that is far
// behind, unless the leading one is refused.
func (r *race) decide() error {
	sorting.Stable(r.entries, func(a, b *entry) int { return cmp.Compare(b.best(), a.best()) })
	var chosen *entry
	for _, e := range r.entries {
		if e.tried == 0 || chosen != nil && !r.refused(r.of) && e.best() < 0.7*chosen.best() {
			continue
		}
		e.tuner.Freeze()
		point := e.tuner.Grid().Point(e.tuner.Point())
		x := [2]float64{point[0], point[1]}
		result, err := r.play(e.kind, x, 2*r.options.RaceBatch, true)
		if err != nil {
			return err
		}
		if chosen == nil || r.refused(r.of) && !r.refused(result) || r.refused(r.of) == r.refused(result) && result.reward > r.of.reward {
			chosen = e
			r.kind, r.setting, r.of = e.kind, x, result
		}
	}
	r.ratio = r.overNUTS(r.of)
	return nil
}

// overNUTS is the reward of an outcome divided by that of NUTS.
func (r *race) overNUTS(o outcome) float64 { return o.reward / max(r.ofNUTS.reward, 1e-12) }

// tryTails tries the winner from points in the tails, where it might reject every proposal. If it
// does, the same trajectory in smaller steps may not.
func (r *race) tryTails() error {
	var err error
	if r.tail, err = r.acceptInTails(r.verdict, r.kind, r.setting); err != nil {
		return err
	}
	for k, x := 0, r.setting; k < gentler && r.options.Kind == "" && r.tail < r.at.tailAccept && r.ratio >= r.at.advantage; k++ {
		x[0], x[1] = x[0]/2, 2*x[1]
		tail, err := r.acceptInTails(r.verdict, r.kind, x)
		if err != nil {
			return err
		}
		if tail < r.at.tailAccept {
			continue
		}
		if r.of, err = r.play(r.kind, x, 2*r.options.RaceBatch, true); err != nil {
			return err
		}
		r.tail, r.setting, r.ratio = tail, x, r.overNUTS(r.of)
	}
	r.kernel.figures["race_ratio"] = r.ratio
	r.kernel.figures["tail_acceptance"] = r.tail
	return nil
}

// refusal returns the reason why the winner is not used; "" if it is used.
func (r *race) refusal() string {
	switch {
	case r.options.Kind != "":
	case r.refused(r.of):
		return "trajectories of fixed length are rejected too often somewhere"
	case r.ratio >= r.at.advantage && r.tail < r.at.tailAccept:
		return "trajectories of fixed length would be rejected in the tails"
	case r.ratio < r.at.advantage:
		return fmt.Sprintf("the best trajectories of fixed length are worth %.2g times as much per gradient", r.ratio)
	}
	return ""
}

// takeWinner chooses the winner.
func (r *race) takeWinner() error {
	use := Setting{r.kind, int(r.setting[1])}
	r.kernel.use(use)
	r.StepSize = r.setting[0]
	with := "."
	if r.options.Kind == "" {
		r.worth = r.of.linear
		r.kernel.relief = r.nutsStep
		with = fmt.Sprintf("; NUTS, with step size %.3g, makes every %dth transition.", r.nutsStep, reliefEvery)
	}
	r.note(fmt.Sprintf("Kernel: %v, %.2g times as efficient per gradient as NUTS. The step size is %.3g%s", use, r.ratio, r.setting[0], with))
	return r.rest(false)
}

// rest makes the remaining transitions of warm-up with the chosen kernel, if the user asked for all
// of them. If adapt is set, it continues to adapt the step size of NUTS.
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

// ofSteps describes, for a note, how the steps of NUTS differ from the usual ones.
func (w *chain) ofSteps(v *verdict) string {
	s := ""
	if v.refined >= 0.001 {
		s = fmt.Sprintf(", with %.2g %% of the steps subdivided", 100*v.refined)
	}
	if w.delta != w.options.Delta {
		s += fmt.Sprintf(", for an acceptance of %.2g because transitions diverged", w.delta)
	}
	return s
}

// acceptInTails returns the smallest mean acceptance of a static kernel from the points in the
// tails. The chains divide these points among themselves.
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

// share makes a batch on all chains and returns the combined outcome. If the step size is adapted
// in the batch, the cost is that of its later half: the first steps may be much too small.
func (w *chain) share(o *watched, n int, adapts bool, each func(infer.Info)) (outcome, error) {
	own, err := w.batch(o, n, each)
	if err != nil {
		return outcome{}, err
	}
	if adapts {
		own.cost = own.later
	}
	all, err := w.Exchange(own, func(parts []any) any { return o.worth(parts) })
	if err != nil {
		return outcome{}, err
	}
	return all.(outcome), nil
}

// meanStep returns the geometric mean of the step sizes of all chains.
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
