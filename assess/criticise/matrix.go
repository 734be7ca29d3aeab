package criticise

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Matrix has the values of observations, or of other quantities, at all draws.
type Matrix struct {
	Chains  []int       // number of draws of each chain
	Columns [][]float64 // by observation: its value at all draws, chain after chain
}

// NewMatrix makes a matrix of zeros.
func NewMatrix(chains []int, observations int) *Matrix {
	m := &Matrix{Chains: chains, Columns: make([][]float64, observations)}
	for i := range m.Columns {
		m.Columns[i] = make([]float64, m.Draws())
	}
	return m
}

// Draws returns the number of draws of all chains.
func (m *Matrix) Draws() int {
	n := 0
	for _, c := range m.Chains {
		n += c
	}
	return n
}

// Row returns the index of a draw in the columns.
func (m *Matrix) Row(chain, draw int) int {
	for _, c := range m.Chains[:chain] {
		draw += c
	}
	return draw
}

// byChain splits a column by chain. It cuts all chains to the length of the shortest.
func (m *Matrix) byChain(column []float64) [][]float64 {
	shortest := len(column)
	for _, c := range m.Chains {
		if c > 0 {
			shortest = min(shortest, c)
		}
	}
	var out [][]float64
	at := 0
	for _, c := range m.Chains {
		if c > 0 {
			out = append(out, column[at:at+shortest])
		}
		at += c
	}
	return out
}

// parallel runs f for every column on all processors.
func (m *Matrix) parallel(f func(i int)) {
	var next atomic.Int64
	var running goroutines.Group
	for range min(runtime.GOMAXPROCS(0), len(m.Columns)) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(m.Columns); i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	running.Wait()
}

// Efficiency returns the relative efficiency of each observation: the effective sample size of the
// mean of its likelihood, exp(column), divided by the number of draws. It is 1 where it is
// undefined.
func (m *Matrix) Efficiency() []float64 {
	out := make([]float64, len(m.Columns))
	s := float64(m.Draws())
	m.parallel(func(i int) {
		likelihood := make([]float64, len(m.Columns[i]))
		for j, v := range m.Columns[i] {
			likelihood[j] = math.Exp(v)
		}
		out[i] = diagnose.ESSMean(m.byChain(likelihood)) / s
		if !(out[i] > 0) || math.IsInf(out[i], 1) {
			out[i] = 1
		}
	})
	return out
}

// CrossValidate computes leave-one-out cross-validation from the log likelihoods of observations at
// all draws. efficiency has relative efficiencies, which also determine the lengths of tails (see
// [psis.TailLength]). nil treats draws as independent; [Result.Adjust] can correct for that.
func CrossValidate(m *Matrix, efficiency []float64) (*Result, error) {
	l, err := NewLOO(m.Draws(), len(m.Columns), efficiency)
	if err != nil {
		return nil, err
	}
	for i, column := range m.Columns {
		if len(column) != l.draws {
			return nil, fmt.Errorf("criticise: %d draws of observation %d, and %d of others", len(column), i+1, l.draws)
		}
		for n, v := range column {
			l.observations[i].add(v, n+1)
		}
	}
	l.seen = l.draws
	return l.Finish()
}

// Weights computes the leave-one-out importance weights of the draws for an observation, from its
// log likelihoods. They sum to one. k is the Pareto k of their tail.
func Weights(logLik []float64, efficiency float64) (weights []float64, k float64) {
	weights = make([]float64, len(logLik))
	for i, v := range logLik {
		weights[i] = -v
	}
	var s psis.Smoother
	k = s.Smooth(weights, psis.TailLength(len(weights), efficiency))
	psis.Normalize(weights)
	return weights, k
}
