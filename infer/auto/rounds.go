package auto

import (
	"context"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// This file runs the rounds of warm-up. A round makes transitions of NUTS and adapts the step size.
// Its input is the current metric and coordinates, its output a [record]. The pool judges the
// records of all chains together (pool.go); then each chain acts on the verdict.

// Constants of the rounds.
const (
	minRoundsNear = 2 // minimum number of rounds for a target that is close to normal
	// number of rounds in which the metric is only a guess; in these, steps are not refined on the
	// way to the typical set
	firstRounds   = 2
	firstMaxDepth = 6 // maximum tree depth in the first of these rounds
)

// averaging returns dual averaging for short rounds that begin with a nearly right step size: it
// shrinks towards twice the step size, not ten times as in Stan.
func (c course) averaging(delta float64) warmup.Averaging {
	return warmup.Averaging{Delta: delta, Reach: 2}
}

// record is what a chain observed in a round.
type record struct {
	draws, scores [][]float64 // in the target's own coordinates
	// Log densities. In a round's own record, they are in the target's coordinates; in pooled
	// rounds, in the coordinates in use at the verdict, see levelsInUse.
	logDensity  []float64
	transitions int // of the round; in many dimensions, more than draws
	divergent   int
	leapfrogs   int   // steps of all transitions
	finer, ways int64 // number of paths between leaves of NUTS made of smaller steps, and of all paths
	stepSize    float64
	unused      []bool // for pooled draws, the last first: whether the chain was useless at the time
	useless     bool   // the chain is useless for learning: far from the other chains, or not moving

	room []float64 // memory for further draws and scores
}

// expect allocates memory for n draws in d dimensions.
func (r *record) expect(n, d int) {
	both := make([][]float64, 2*n)
	r.draws, r.scores, r.room = both[:0:n], both[n:n], make([]float64, 2*n*d)
}

// row adds a draw and its score, for the caller to fill in.
func (r *record) row(d int) (draw, score []float64) {
	draw, score, r.room = r.room[:d:d], r.room[d:2*d:2*d], r.room[2*d:]
	r.draws, r.scores = append(r.draws, draw), append(r.scores, score)
	return draw, score
}

func (r *record) take(c *infer.Chart, z *infer.Point) {
	draw, score := r.row(len(z.Position))
	lp := z.LogDensity
	if c == nil {
		copy(draw, z.Position)
		copy(score, z.Gradient)
	} else {
		jacobian, _ := c.Scores(z.Position, z.Gradient, draw, score) // values that are not finite are not used
		lp -= jacobian
	}
	r.logDensity = append(r.logDensity, lp)
}

// maxRecorded is the maximum amount of numbers in the draws and scores that all chains record in a
// round, 96 MiB. The judgement takes up to eight times that.
const maxRecorded = 12 << 20

// minRecorded is the minimum number of draws of a round that a chain records.
const minRecorded = 12

// recorded returns the number of the last draws of a round that each of the chains records.
func recorded(d, chains int) int { return max(minRecorded, maxRecorded/(2*d*max(1, chains))) }

// advance makes the n transitions of a round, adapts the step size, and records the last draws, at
// most keep. In the first rounds, trees are small and steps are not refined. small requests small
// trees in later rounds too, for metrics that the scores alone determine.
func (w *chain) advance(n, keep, round int, small bool) error {
	maxDepth := w.options.MaxDepth
	if round <= firstRounds {
		maxDepth = firstMaxDepth + 2*(round-1)
		w.kernel.nuts.Refine = 0
	}
	if small {
		maxDepth = firstMaxDepth
	}
	keep = min(keep, n)
	w.record = record{transitions: n, logDensity: make([]float64, 0, keep)}
	w.record.expect(keep, len(w.Point.Position))
	w.kernel.nuts.MaxDepth = min(maxDepth, w.options.MaxDepth)
	avg := warmup.NewDualAveraging(w.averaging(w.delta), w.StepSize)
	finer, ways := w.kernel.nuts.Refined()
	for t := range n {
		info, err := w.Advance()
		if err != nil {
			return err
		}
		w.StepSize = avg.Update(info.AcceptStat)
		w.record.leapfrogs += int(info.Leapfrogs)
		if info.Divergent {
			w.record.divergent++
		}
		if t >= n-keep {
			w.record.take(w.Chart, w.Point)
		}
	}
	w.record.room = nil
	w.StepSize = avg.Final()
	w.record.stepSize = w.StepSize
	w.record.finer, w.record.ways = w.kernel.nuts.Refined()
	w.record.finer, w.record.ways = w.record.finer-finer, w.record.ways-ways
	w.kernel.nuts.MaxDepth, w.kernel.nuts.Refine = w.options.MaxDepth, w.options.Refine
	w.made += n
	return nil
}

// rounds makes all rounds and returns the last verdict.
func (w *chain) rounds(ctx context.Context, given bool, modes []*mode) (*verdict, error) {
	p := &pool{course: w.course, given: given, chart: w.Chart, learns: w.learns, several: len(modes) > 1, work: workOf(w.Target, w.Chart)}
	length := float64(w.options.FirstRound)
	split := 0 // number of times that it was examined whether chains are in different places
	var surveys surveys
	chains := 1 // the first round is short
	ofRounds := w.length - min(w.options.ofRace(), w.length/3)
	for round := 1; ; round++ {
		if err := w.advance(min(int(length), ofRounds-w.made), recorded(w.Target.Dim(), chains), round, surveys.wanted); err != nil {
			return nil, err
		}
		last, late := w.made >= ofRounds, w.made >= ofRounds/3
		p.metric = w.h.Metric()
		all, err := w.Exchange(w.record, func(parts []any) any { return p.judge(parts, last, late) })
		if err != nil {
			return nil, err
		}
		v := all.(*verdict)
		if v.err != nil {
			return nil, v.err
		}
		p.adopt(v)
		chains = v.chains
		if err := w.follow(ctx, v, given); err != nil {
			return nil, err
		}
		known := p.several && v.chains > 1 && (v.done || late)
		if known || v.split && split == 0 || v.done && v.chains > 1 && v.rhat > p.at.apart {
			split++
			found, err := w.occupied(v, modes)
			if err != nil {
				return nil, err
			}
			if found {
				w.note(fmt.Sprintf("Metric: %s.", v.why))
				return v, nil
			}
		}
		if surveys.due(v, round) {
			if err := w.takeSurvey(ctx, v); err != nil {
				return nil, err
			}
		}
		if v.done {
			w.conclude(v)
			return v, nil
		}
		length *= 1 + p.at.roundGrowth
	}
}

// follow carries out a verdict for this chain: coordinates, restart, metric and step size.
func (w *chain) follow(ctx context.Context, v *verdict, given bool) error {
	if w.learns && !slices.Equal(v.evidence, w.Chart.Evidence()) {
		if err := w.recentre(v.evidence); err != nil {
			return err
		}
	}
	again := slices.Contains(v.restarts, w.place(v.chains))
	if again {
		w.emit(infer.EventRestart, infer.Figures{"iterations": float64(w.made)})
		if err := w.restart(ctx); err != nil {
			return err
		}
	}
	if !given {
		if err := w.h.SetMetric(v.metric); err != nil {
			return err
		}
	}
	w.delta = v.delta
	if v.rhat < w.at.apart || v.done || again {
		w.StepSize = v.stepSize
	}
	return nil
}

// conclude reports the findings of the last verdict.
func (w *chain) conclude(v *verdict) {
	w.reportCentring(v.learnt)
	w.note(fmt.Sprintf("Metric: %s.", v.why))
	if v.unsettled {
		w.emit(infer.EventUnsettled, infer.Figures{"rhat": v.rhat, "divergent": v.divergent})
	}
	if v.standing[w.place(v.chains)].lost {
		w.emit(infer.EventDropped, infer.Figures{"iterations": float64(w.made)})
	}
}

// surveys decides after which rounds second derivatives are computed.
type surveys struct {
	// the last verdict asks for a survey that is not made, because scores alone determine the
	// metric, however close together the draws are
	wanted bool
	taken  int
	in     []float64 // coordinates at the last survey
}

// due reports whether a survey follows this round, and records it.
func (s *surveys) due(v *verdict, round int) bool {
	due := v.unripe && round > 1 && !v.done && (s.taken == 0 || s.taken < maxSurveys && !slices.Equal(s.in, v.evidence))
	s.wanted = v.unripe && !due
	if due {
		s.taken, s.in = s.taken+1, v.evidence
	}
	return due
}

// takeSurvey sets a metric computed from all second derivatives, and a step size for it.
func (w *chain) takeSurvey(ctx context.Context, v *verdict) error {
	m, err := w.survey(v)
	if err != nil {
		return err
	}
	if err := w.h.SetMetric(m); err != nil {
		return err
	}
	return (warmup.Search{}).Run(ctx, w.State)
}

// maxSurveys is the maximum number of surveys. Another survey follows the first only if other
// coordinates have been learnt since.
const maxSurveys = 3
