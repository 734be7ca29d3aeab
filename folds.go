package ppl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/infer/ahmc"
)

// CrossValidation says which observations are held out together, for
// [Model.Folds].
type CrossValidation struct {
	// Rows names the data whose first index runs over the observations: all that
	// have it. Their number must be a variable of the data, as in
	// array[N] real y.
	Rows []string

	Folds int    // at least 2, at most one per observation
	Seed  uint64 // selects which observations come into the same fold
}

// Folds makes the folds of cross-validation that the reward ahmc.Predictive
// wants: for each, the posterior given the data without it, and the likelihood
// of each observation in it. The observations must be independent given the
// parameters; then the likelihood of one is the ratio of two densities, with
// and without it beside the same few others, and the model need not say what it
// is.
func (m *Model) Folds(values any, c CrossValidation, o BindOptions) ([]ahmc.Fold, error) {
	if err := m.missing(); err != nil {
		return nil, err
	}
	set, err := readData(values)
	if err != nil {
		return nil, err
	}
	size, n, err := m.rows(set, c.Rows)
	if err != nil {
		return nil, err
	}
	if c.Folds < 2 || c.Folds > n {
		return nil, fmt.Errorf("cross-validation with %d folds: there must be at least 2, and at most as many as observations, %d", c.Folds, n)
	}
	full := o
	full.NoPropto = true // densities with different data are compared
	whole, err := m.BindWith(set, o)
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
		bind := func(rows []int, o BindOptions) (*Posterior, error) {
			return m.BindWith(choose(set, c.Rows, size, rows), o)
		}
		target, err := bind(kept, o)
		if err != nil {
			return nil, fmt.Errorf("the data without fold %d: %w", f+1, err)
		}
		if target.Dim() != whole.Dim() {
			return nil, fmt.Errorf("the model has %d unconstrained parameters with all observations and %d without fold %d: parameters that belong to single observations cannot be learnt without them", whole.Dim(), target.Dim(), f+1)
		}
		out := &heldOut{}
		// A model may want more than one observation.
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

// rows finds the variable that holds the number of observations, and its value.
func (m *Model) rows(set *data.Set, names []string) (size string, n int, err error) {
	if len(names) == 0 {
		return "", 0, errors.New("cross-validation needs the names of the data that have a row for each observation")
	}
	program := m.program.IR()
	all := make([]string, len(program.Data))
	for i, v := range program.Data {
		all[i] = v.Name
	}
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return "", 0, fmt.Errorf("the rows of %s: the data of the model are %s", name, strings.Join(all, ", "))
		}
		v := program.Data[i]
		if len(v.Sizes) == 0 {
			return "", 0, fmt.Errorf("the rows of %s: it is a single number", name)
		}
		ref, ok := v.Sizes[0].(*ir.VarRef)
		switch {
		case !ok:
			return "", 0, fmt.Errorf("the rows of %s: their number must be declared as a variable of the data, as in array[N] real %s, so that it can be made smaller", name, name)
		case size == "":
			size = ref.Var.Name
		case ref.Var.Name != size:
			return "", 0, fmt.Errorf("%s has %s rows, but %s has %s: the data with a row for each observation must have the same number", names[0], size, name, ref.Var.Name)
		}
	}
	for _, v := range program.Data {
		for i, s := range v.Sizes {
			ref, ok := s.(*ir.VarRef)
			if !ok || ref.Var.Name != size {
				continue
			}
			if i > 0 {
				return "", 0, fmt.Errorf("%s has %s columns, too: observations cannot be left out of it", v.Name, size)
			}
			if !slices.Contains(names, v.Name) {
				return "", 0, fmt.Errorf("%s has %s rows as %s has: it must be named with it", v.Name, size, names[0])
			}
		}
	}
	number, ok := set.Get(size)
	if !ok || len(number.Ints) != 1 {
		return "", 0, fmt.Errorf("the data give no number for %s", size)
	}
	n = int(number.Ints[0])
	for _, name := range names {
		v, ok := set.Get(name)
		if !ok || len(v.Shape) == 0 || v.Shape[0] != n {
			return "", 0, fmt.Errorf("the data give no %d rows for %s", n, name)
		}
	}
	return size, n, nil
}

// choose gives the data with only some of their rows.
func choose(set *data.Set, names []string, size string, rows []int) *data.Set {
	return set.With(func(name string, v data.Value) data.Value {
		switch {
		case name == size:
			return data.Value{IsInt: true, Ints: []int64{int64(len(rows))}, Reals: []float64{float64(len(rows))}}
		case slices.Contains(names, name):
			return v.Rows(rows)
		}
		return v
	})
}

// heldOut is the likelihood of observations: the density with each of them
// beside some others, over that without it.
type heldOut struct {
	without *Posterior
	with    []*Posterior

	mu   sync.Mutex
	free []*heldOut // for other goroutines
	x    []float64  // work space, of a copy
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

// take finds a copy that no one uses, or makes one.
func (h *heldOut) take() *heldOut {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.free); n > 0 {
		c := h.free[n-1]
		h.free = h.free[:n-1]
		return c
	}
	c := &heldOut{without: h.without.clone(), x: make([]float64, h.without.Dim())}
	for _, p := range h.with {
		c.with = append(c.with, p.clone())
	}
	return c
}

func (h *heldOut) give(c *heldOut) {
	h.mu.Lock()
	h.free = append(h.free, c)
	h.mu.Unlock()
}
