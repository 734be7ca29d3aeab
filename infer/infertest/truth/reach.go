package truth

import (
	"context"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
)

// Constants of the climbs that decide which modes are reachable.
const (
	reachStarts = 32
	// minShare is the minimum probability with which a climb must find a mode that counts as
	// reachable.
	minShare = 0.03
)

// classed sets the class of Reachable targets to Far if climbs from random starts miss a mode.
func classed(targets []*Target) []*Target {
	for _, t := range targets {
		if t.Class == Reachable && !t.reached() {
			t.Class = Far
		}
	}
	return targets
}

// reached reports whether climbs from random starts, within 2 of zero, end in every mode. The wide
// part of a concentric target is not a mode, so a start inside it is enough.
func (t *Target) reached() bool {
	rng := infer.Stream(dataSeed, 3, "truth "+t.Name, 0)
	var points [][]float64
	for range reachStarts {
		x := make([]float64, t.Dim())
		for i := range x {
			x[i] = 2 * (2*rng.Float64() - 1)
		}
		if strings.HasPrefix(t.Name, "concentric") {
			points = append(points, x)
		}
		if r, err := optimize.Maximize(context.Background(), t.Density, x, optimize.Options{}); err == nil {
			points = append(points, r.X)
		}
	}
	for _, in := range t.modes {
		inside := 0
		for _, x := range points {
			inside += int(in.Of(x))
		}
		if inside > 0 && inside < len(points) {
			continue
		}
		// Quantities may take long to compute, so they are computed only if needed.
		for _, q := range t.Quantities() {
			if q.Name == in.Name && (inside == 0 && q.Truth > minShare || inside > 0 && q.Truth < 1-minShare) {
				return false
			}
		}
	}
	return true
}
