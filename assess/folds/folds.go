// Package folds makes cross-validation folds for samplers that are tuned to predict well, for the
// reward Predictive of package infer/ahmc. To judge a model by refits without observations, use
// assess.Holdout.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	folds.go  Make; the likelihood of observations that were held out
package folds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/model"
)

// Options say which observations are held out together.
type Options struct {
	// Rows names all data whose first index runs over the observations. The number of observations
	// must be a data variable, as in array[N] real y.
	Rows []string

	Folds int    // number of folds: at least 2, and at most one per observation
	Seed  uint64 // determines which observations share a fold
}

// Make makes the folds for the reward ahmc.Predictive. Each fold has the posterior given the data
// without the fold, and the likelihood of each held-out observation. The model need not compute
// that likelihood. Given the parameters, observations must be independent; so it is a ratio of two
// densities: that of a few other observations with the held-out one, divided by that without it.
// Make stops early when ctx ends.
func Make(ctx context.Context, m *model.Model, values any, c Options, o model.BindOptions) ([]ahmc.Fold, error) {
	program := m.Program()
	if program == nil {
		return nil, errors.New("folds: there is no model; ppl.Compile makes one, if its error is nil")
	}
	set, err := model.ReadData(values)
	if err != nil {
		return nil, err
	}
	size, n, err := program.Rows(set, c.Rows)
	if err != nil {
		return nil, err
	}
	if c.Folds < 2 || c.Folds > n {
		return nil, fmt.Errorf("cross-validation with %d folds: there must be at least 2, and at most as many as observations, %d", c.Folds, n)
	}
	full := o
	full.NoPropto = true // densities of different data are divided, so their constants matter
	whole, err := m.BindContext(ctx, set, o)
	if err != nil {
		return nil, err
	}
	order := rand.New(rand.NewPCG(c.Seed, 0x666f6c6473)).Perm(n)
	folds := make([]ahmc.Fold, c.Folds)
	for f := range folds {
		var kept, held []int
		for i, row := range order {
			if i%c.Folds == f {
				held = append(held, row)
			} else {
				kept = append(kept, row)
			}
		}
		slices.Sort(kept)
		slices.Sort(held)
		bind := func(rows []int, o model.BindOptions) (*model.Posterior, error) {
			return m.BindContext(ctx, set.ChooseRows(c.Rows, size, rows), o)
		}
		target, err := bind(kept, o)
		if err != nil {
			return nil, fmt.Errorf("the data without fold %d: %w", f+1, err)
		}
		if target.Dim() != whole.Dim() {
			return nil, fmt.Errorf("the model has %d unconstrained parameters with all observations and %d without fold %d: parameters that belong to single observations cannot be learnt without them", whole.Dim(), target.Dim(), f+1)
		}
		out := &heldOut{}
		// Some models cannot be bound to a single observation, so try a few more.
		for few := 1; ; few *= 2 {
			few = min(few, len(kept))
			if out.without, err = bind(kept[:few], full); err != nil {
				if few < len(kept) {
					continue
				}
				return nil, fmt.Errorf("the likelihood of single observations: %w", err)
			}
			for _, row := range held {
				with, err := bind(append(slices.Clone(kept[:few]), row), full)
				if err != nil {
					return nil, fmt.Errorf("the likelihood of observation %d: %w", row+1, err)
				}
				out.with = append(out.with, with)
			}
			break
		}
		folds[f] = ahmc.Fold{Target: target, Held: out}
	}
	return folds, nil
}

// heldOut computes the likelihoods of held-out observations: the density of a few other
// observations with each of them, divided by the density without it.
type heldOut struct {
	without infer.LogDensity
	with    []infer.LogDensity

	mu   sync.Mutex
	free []*heldOut // copies that no goroutine is using
	x    []float64  // space for gradients that are not used; only copies have it
}

// Len implements ahmc.HeldOut.
func (h *heldOut) Len() int { return len(h.with) }

// LogLikelihood implements ahmc.HeldOut.
func (h *heldOut) LogLikelihood(x, dst []float64) error {
	if len(dst) != len(h.with) {
		return fmt.Errorf("ppl: a place for %d likelihoods, but there are %d", len(dst), len(h.with))
	}
	c := h.take()
	defer h.give(c)
	base, err := c.without.LogDensityGrad(x, c.x)
	if err != nil {
		return err
	}
	for i, p := range c.with {
		switch lp, err := p.LogDensityGrad(x, c.x); {
		case err != nil || math.IsNaN(lp-base):
			dst[i] = math.Inf(-1)
		default:
			dst[i] = lp - base
		}
	}
	return nil
}

// take returns a copy that no other goroutine is using, and makes one if necessary.
func (h *heldOut) take() *heldOut {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.free); n > 0 {
		c := h.free[n-1]
		h.free = h.free[:n-1]
		return c
	}
	c := &heldOut{without: h.without.(infer.Cloner).CloneDensity(), x: make([]float64, h.without.Dim())}
	for _, p := range h.with {
		c.with = append(c.with, p.(infer.Cloner).CloneDensity())
	}
	return c
}

func (h *heldOut) give(c *heldOut) {
	h.mu.Lock()
	h.free = append(h.free, c)
	h.mu.Unlock()
}
