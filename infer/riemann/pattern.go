package riemann

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
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

// symbolic is the pattern of a Cholesky factor S = Pᵀ·L·Lᵀ·P, in an order in which it is sparse.
type symbolic struct {
	pattern Pattern
	order   []int32 // order of the rows of the factor
	place   []int32 // the inverse of order
	start   []int32 // start of each column in rows, and in the values
	rows    []int32 // rows of each column in ascending order, the diagonal first
	at      []int32 // index of each position of the pattern in the values
	work    float64 // number of multiplications in a factorisation
}

func newSymbolic(p Pattern) *symbolic {
	d := p.Dim
	s := &symbolic{pattern: p, order: minimumDegree(p), place: make([]int32, d), start: make([]int32, d+1), at: make([]int32, len(p.Rows))}
	for i, v := range s.order {
		s.place[v] = int32(i)
	}
	below := make([][]int32, d) // rows of each column of S, in the new order
	for k, r := range p.Rows {
		i, j := s.place[r], s.place[p.Cols[k]]
		below[min(i, j)] = append(below[min(i, j)], max(i, j))
	}
	// A column of the factor has the rows of the same column of S, and the rows of each column
	// whose first row below the diagonal is this column.
	children := make([][]int32, d)
	mark := make([]int32, d)
	for j := range d {
		first := len(s.rows)
		s.start[j] = int32(first)
		s.rows = append(s.rows, int32(j))
		mark[j] = int32(j) + 1
		add := func(rows []int32) {
			for _, i := range rows {
				if mark[i] != int32(j)+1 {
					mark[i] = int32(j) + 1
					s.rows = append(s.rows, i)
				}
			}
		}
		add(below[j])
		for _, c := range children[j] {
			add(s.rows[s.start[c]+1 : s.start[c+1]])
		}
		col := s.rows[first:]
		slices.Sort(col)
		if len(col) > 1 {
			children[col[1]] = append(children[col[1]], int32(j))
		}
		s.start[j+1] = int32(len(s.rows))
		s.work += float64(len(col)) * float64(len(col))
	}
	for k, r := range p.Rows {
		i, j := s.place[r], s.place[p.Cols[k]]
		i, j = max(i, j), min(i, j)
		n, _ := slices.BinarySearch(s.rows[s.start[j]:s.start[j+1]], i)
		s.at[k] = s.start[j] + int32(n)
	}
	r := float64(p.Rank())
	s.work += r * (float64(len(s.rows)) + float64(d)*r + r*r)
	return s
}

// degrees is a heap of variables by degree. Outdated entries remain in it until they are removed
// from its top.
type degrees [][2]int32

func (h degrees) Len() int           { return len(h) }
func (h degrees) Less(i, j int) bool { return slices.Compare(h[i][:], h[j][:]) < 0 }
func (h degrees) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *degrees) Push(x any)        { *h = append(*h, x.([2]int32)) }
func (h *degrees) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// minimumDegree orders the variables so that few elements of the factor are nonzero. It repeatedly
// eliminates the variable with the fewest neighbours. The neighbours of an eliminated variable
// become adjacent to each other, as an element of the quotient graph. A neighbour that is reached
// in several ways is counted several times.
func minimumDegree(p Pattern) []int32 {
	d := p.Dim
	adjacent := make([][]int32, d)
	for k, r := range p.Rows {
		if c := p.Cols[k]; c != r {
			adjacent[r], adjacent[c] = append(adjacent[r], c), append(adjacent[c], r)
		}
	}
	alone := make([]int32, d)      // neighbours that have not been eliminated
	elements := make([][]int32, d) // elements that each variable belongs to
	variables := make([][]int32, d)
	gone, dead := make([]bool, d), make([]bool, d)
	degree, shared, mark := make([]int32, d), make([]int32, d), make([]int32, d)
	queue := make(degrees, d)
	for i := range d {
		alone[i] = int32(len(adjacent[i]))
		degree[i] = alone[i]
		queue[i] = [2]int32{degree[i], int32(i)}
	}
	heap.Init(&queue)
	order := make([]int32, 0, d)
	for len(order) < d {
		next := heap.Pop(&queue).([2]int32)
		v := next[1]
		if gone[v] || next[0] != degree[v] {
			continue
		}
		gone[v] = true
		order = append(order, v)
		var front []int32
		add := func(vs []int32) {
			for _, i := range vs {
				if !gone[i] && mark[i] != v+1 {
					mark[i] = v + 1
					front = append(front, i)
				}
			}
		}
		add(adjacent[v])
		for _, i := range adjacent[v] {
			alone[i]--
		}
		for _, e := range elements[v] {
			add(variables[e])
			variables[e], dead[e] = nil, true
		}
		variables[v] = front
		// An element is redundant if all its variables are in the new element.
		for _, i := range front {
			for _, e := range elements[i] {
				shared[e]++
			}
		}
		for _, i := range front {
			for _, e := range elements[i] {
				if !dead[e] && int(shared[e]) == len(variables[e]) {
					variables[e], dead[e] = nil, true
				}
			}
		}
		for _, i := range front {
			n := alone[i]
			kept := elements[i][:0]
			for _, e := range elements[i] {
				shared[e] = 0
				if !dead[e] {
					kept = append(kept, e)
					n += int32(len(variables[e])) - 1
				}
			}
			elements[i] = append(kept, v)
			degree[i] = min(n+int32(len(front))-1, int32(d-len(order)))
			heap.Push(&queue, [2]int32{degree[i], i})
		}
	}
	return order
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
