package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

// classes is the number of classes of ranks in the chi-square test.
const classes = 16

// prefix marks the quantities whose ranks are counted.
const prefix = "below_"

// calibration is the test of the ranks of one model.
type calibration struct {
	name       string
	quantities []quantity
	divergent  int // posteriors with divergent transitions
}

// quantity is a quantity whose ranks are tested for uniformity.
type quantity struct {
	name         string
	bins         []int
	distance     float64 // distance of the empirical distribution function from the uniform one
	chiSquare, p float64
}

// ranked is a stored replicate.
type ranked struct {
	Of       string   `json:"of"` // model, settings and version, see settings.of
	Seed     uint64   `json:"seed"`
	Names    []string `json:"names"`
	Ranks    []int    `json:"ranks"`
	Diverged bool     `json:"diverged,omitempty"`
}

func (r ranked) key() string { return fmt.Sprintf("%s, seed %d", r.Of, r.Seed) }

// calibrate computes the ranks in every replicate, on several processors; the result does not
// depend on their number. It does not compute stored ones again.
func calibrate(ctx context.Context, name string, model *model.Model, s settings, kept *figures.Kept[ranked]) (calibration, error) {
	ranks := make([][]int, s.replicates) // by replicate and quantity
	divergent := make([]bool, s.replicates)
	var names []string
	var mu sync.Mutex
	var failures []error
	var wg sync.WaitGroup
	for w := range s.workers {
		wg.Go(func() {
			for r := w; r < s.replicates && ctx.Err() == nil; r += s.workers {
				found, ok := kept.Get(ranked{Of: s.of(name), Seed: s.seedOf(r)}.key())
				if !ok {
					var err error
					if found, err = replicate(ctx, name, model, s, r); err == nil {
						err = kept.Add(found)
					}
					if err != nil {
						mu.Lock()
						failures = append(failures, fmt.Errorf("replicate %d: %w", r+1, err))
						mu.Unlock()
						return
					}
				}
				mu.Lock()
				ranks[r], divergent[r], names = found.Ranks, found.Diverged, found.Names
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	failures = append(failures, ctx.Err())
	if errors.Join(failures...) != nil {
		return calibration{}, errors.Join(failures...)
	}
	if len(names) == 0 {
		return calibration{}, fmt.Errorf("there is no quantity %s…", prefix)
	}
	c := calibration{name: name}
	for _, d := range divergent {
		if d {
			c.divergent++
		}
	}
	for i, name := range names {
		one := make([]int, s.replicates)
		for r := range ranks {
			one[r] = ranks[r][i]
		}
		c.quantities = append(c.quantities, uniformity(name, one, s.draws))
	}
	return c, nil
}

// seedOf returns the seed of a replicate.
func (s settings) seedOf(r int) uint64 { return s.seed<<32 + uint64(r) }

// replicate draws parameters and data, then draws from the posterior, and counts for each quantity
// the draws below.
func replicate(ctx context.Context, name string, m *model.Model, s settings, r int) (ranked, error) {
	out := ranked{Of: s.of(name), Seed: s.seedOf(r)}
	p, err := m.BindContext(ctx, nil, model.BindOptions{Seed: out.Seed})
	if err != nil {
		return out, err
	}
	warmup := s.warmup
	if warmup == 0 {
		warmup = -1
	}
	fit, err := fit.Sample(ctx, p, fit.Options{
		Sampler: s.sampler, Chains: s.chains, Parallel: 1, Warmup: warmup, Draws: s.draws / s.chains * s.thin, Thin: s.thin, Seed: out.Seed,
	})
	if err != nil {
		return out, err
	}
	for k, column := range fit.Names() {
		if !strings.HasPrefix(column, prefix) {
			continue
		}
		sum := 0.0
		for c := range s.chains {
			for _, v := range fit.Draws.Column(nil, c, k) {
				sum += v
			}
		}
		out.Names = append(out.Names, diagnose.DisplayName(strings.TrimPrefix(column, prefix)))
		out.Ranks = append(out.Ranks, int(sum))
	}
	for _, phase := range fit.Sampling() {
		out.Diverged = out.Diverged || phase.Divergences > 0
	}
	return out, nil
}

// uniformity tests whether ranks from 0 to most are uniform.
func uniformity(name string, ranks []int, most int) quantity {
	q := quantity{name: name, bins: make([]int, min(classes, most+1))}
	counts := make([]int, most+1)
	for _, r := range ranks {
		counts[r]++
		q.bins[r*len(q.bins)/(most+1)]++
	}
	n, cumulative := float64(len(ranks)), 0
	for r, c := range counts {
		cumulative += c
		q.distance = max(q.distance, math.Abs(float64(cumulative)/n-float64(r+1)/float64(most+1)))
	}
	// Classes hold equal or almost equal numbers of ranks.
	for b, c := range q.bins {
		size := 0
		for r := range most + 1 {
			if r*len(q.bins)/(most+1) == b {
				size++
			}
		}
		expected := n * float64(size) / float64(most+1)
		q.chiSquare += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	q.p = mathext.GammaIncRegComp(float64(len(q.bins)-1)/2, q.chiSquare/2)
	return q
}
