package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// classes is the number of classes of ranks for the test by chi-square.
const classes = 16

// prefix marks the quantities whose ranks are counted.
const prefix = "below_"

// calibration is what the ranks of one model say.
type calibration struct {
	name       string
	quantities []quantity
	divergent  int // posteriors with divergent transitions
}

// quantity is one whose ranks are tested for being uniform.
type quantity struct {
	name         string
	bins         []int
	distance     float64 // of the empirical distribution function from the uniform one
	chiSquare, p float64
}

// calibrate finds the ranks in every replicate, on all processors; the result
// does not depend on their number.
func calibrate(name string, model *ppl.Model, s settings) (calibration, error) {
	ranks := make([][]int, s.replicates) // by replicate and quantity
	divergent := make([]bool, s.replicates)
	var names []string
	var mu sync.Mutex
	var failures []error
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for r := w; r < s.replicates; r += workers {
				found, rank, diverged, err := replicate(model, s, r)
				ranks[r], divergent[r] = rank, diverged
				mu.Lock()
				if err != nil {
					failures = append(failures, fmt.Errorf("replicate %d: %w", r+1, err))
				}
				names = found
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if len(failures) > 0 {
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

// replicate draws parameters and data, then from the posterior, and counts for
// each quantity the draws below.
func replicate(model *ppl.Model, s settings, r int) (names []string, ranks []int, diverged bool, err error) {
	seed := s.seed<<32 + uint64(r)
	p, err := model.BindContext(context.Background(), nil, ppl.BindOptions{Seed: seed})
	if err != nil {
		return nil, nil, false, err
	}
	warmup := s.warmup
	if warmup == 0 {
		warmup = -1
	}
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{
		Sampler: s.sampler, Chains: s.chains, Parallel: 1, Warmup: warmup, Draws: s.draws / s.chains * s.thin, Thin: s.thin, Seed: seed,
	})
	if err != nil {
		return nil, nil, false, err
	}
	for k, name := range fit.Names() {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		sum := 0.0
		for c := range s.chains {
			for _, v := range fit.Draws.Column(nil, c, k) {
				sum += v
			}
		}
		names = append(names, diagnose.DisplayName(strings.TrimPrefix(name, prefix)))
		ranks = append(ranks, int(sum))
	}
	for _, phase := range fit.Sampling() {
		diverged = diverged || phase.Divergences > 0
	}
	return names, ranks, diverged, nil
}

// uniformity tests ranks of 0 … most.
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
