package riemann

import (
	"errors"
	"fmt"

	factor "github.com/ppl-lang/ppl/internal/sparse"
)

// Pattern says which elements of a metric may be nonzero. The metric is a sparse matrix S plus
// matrices of low rank: G = S + Σ w·u·uᵀ.
type Pattern struct {
	Dim        int
	Rows, Cols []int32 // positions in the lower triangle of S, each once, with the whole diagonal
	Wide       []Wide
}

// Wide describes the vectors u of a Pattern that have the same columns.
type Wide struct {
	Columns []int32 // columns in which they may be nonzero
	Rank    int     // the number of vectors
}

// Len returns the number of values that describe a metric: the elements of S and then, for each
// Wide, its vectors, column by column, and their weights.
func (p Pattern) Len() int {
	n := len(p.Rows)
	for _, w := range p.Wide {
		n += (len(w.Columns) + 1) * w.Rank
	}
	return n
}

// Rank returns the number of vectors.
func (p Pattern) Rank() (n int) {
	for _, w := range p.Wide {
		n += w.Rank
	}
	return n
}

// Sparse is a metric given by its nonzero elements. Like a [Metric] it belongs to one chain.
type Sparse interface {
	Pattern() Pattern

	// Elements computes the Pattern().Len() values at x and writes them to e. Weights must not be
	// negative, and S alone must be positive definite.
	Elements(x, e []float64) error

	// ElementsTraceGrad computes the gradient in x of tr(A·G(x)) for a constant symmetric A, and
	// writes it to grad. a is in the form of Elements: at the positions of S it has the elements of
	// A; in place of each vector and its weight it has A·u at the vector's columns, and uᵀA·u.
	ElementsTraceGrad(x, a, grad []float64) error
}

// symbolic is the pattern of the factor of S.
type symbolic struct {
	pattern Pattern
	*factor.Factor
	work float64 // number of multiplications in a factorisation
}

func newSymbolic(p Pattern) *symbolic {
	s := &symbolic{pattern: p, Factor: factor.NewFactor(p.Dim, p.Rows, p.Cols)}
	r := float64(p.Rank())
	s.work = s.Work + r*(float64(s.Len())+float64(p.Dim)*r+r*r)
	return s
}

// validate returns an error if a pattern is invalid for a metric in d dimensions.
func (p Pattern) validate(d int) error {
	if p.Dim != d || len(p.Rows) != len(p.Cols) {
		return fmt.Errorf("riemann: a pattern of dimension %d, with %d rows and %d columns, for a target of dimension %d", p.Dim, len(p.Rows), len(p.Cols), d)
	}
	diagonal, last := 0, int64(-1)
	for k, r := range p.Rows {
		c := p.Cols[k]
		if at := int64(r)*int64(d) + int64(c); c < 0 || c > r || int(r) >= d || at <= last {
			return errors.New("riemann: the places of a pattern must be those of a lower triangle, row by row and each once")
		} else {
			last = at
		}
		if r == c {
			diagonal++
		}
	}
	if diagonal < d {
		return errors.New("riemann: a pattern must have the whole diagonal")
	}
	for _, w := range p.Wide {
		for _, c := range w.Columns {
			if c < 0 || int(c) >= d || w.Rank < 0 {
				return errors.New("riemann: a pattern has vectors with columns that do not exist")
			}
		}
	}
	return nil
}
