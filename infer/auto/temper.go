package auto

import (
	"context"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// This file decides about tempering, for chains that do not move between modes. Each chain then
// gets its own ladder of replicas, whose draws have the right share of each mode.

const (
	// In the first rounds little is learnt yet, so the plan may take earlyTempered times the
	// allowed gradients.
	earlyTempered = 3
)

// temper replaces the kernel by a ladder if there are separate modes, enough of warm-up is left and
// the cost is acceptable. It reports whether it did so.
func (w *chain) temper(ctx context.Context) (bool, error) {
	c := w.kernel.modes
	left := w.length - w.made
	if c == nil || w.options.NoTemper || w.options.Kind != "" || left < int(w.at.minScans) {
		return false, nil
	}
	start := tempered.Start{At: slices.Clone(w.Point.Position)}
	for i, m := range c.Normals {
		start.Modes = append(start.Modes, tempered.Component{Weight: max(c.Mass[i], minWeight), Normal: m})
	}
	if _, err := tempered.NewMixture(start.Modes); err != nil {
		return false, nil // a mode is degenerate, such as a spike of the density; this holds for all chains
	}
	was := *w.kernel
	point := infer.NewPoint(w.Target.Dim())
	point.CopyFrom(w.Point)
	ladder, err := tempered.New(w.Rng, w.Target, tempered.Sampler{}, start)
	if err != nil {
		return false, err
	}
	w.kernel.temper(ladder)
	stages := ladder.Stages(left)
	for i, stage := range stages {
		begun, made := w.Target.Gradients()-ladder.Searched(), w.Iteration
		if err := stage.Run(ctx, w.State); err != nil {
			return false, err
		}
		n := w.Iteration - made
		w.made += n
		if n == 0 {
			continue
		}
		allowed := w.at.maxTempered
		if i+2 < len(stages)/2 { // step sizes and metrics are still poor
			allowed *= earlyTempered
		}
		// Either all chains are tempered or none is.
		dear, err := w.Exchange(float64(w.Target.Gradients()-ladder.Searched()-begun)/float64(n), func(parts []any) any {
			most := 0.0
			for _, p := range parts {
				if v, ok := p.(float64); ok {
					most = max(most, v)
				}
			}
			return most*float64(w.length) > allowed
		})
		if err != nil {
			return false, err
		}
		if dear.(bool) {
			*w.kernel = was
			return false, w.move(point.Position)
		}
	}
	w.kernel.modes.restart()
	w.note(fmt.Sprintf("Kernel: parallel tempering with %d replicas, because the chains did not move between modes.", ladder.Levels()))
	return true, nil
}

// minWeight is the minimum weight of a mode in the first reference of a ladder.
const minWeight = 0.01

// temper makes the ladder the current kernel.
func (k *Kernel) temper(ladder *tempered.Kernel) {
	k.use(k.setting)
	k.ladder = ladder
}
