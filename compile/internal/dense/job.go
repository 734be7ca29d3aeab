package dense

import "unsafe"

// Team is workers that share what is to be done.
type Team interface {
	// Each has p do parts 0 to n-1 and returns when all are done. They do not depend on one
	// another: whoever of the workers may do any of them, in any order and at the same time, in
	// separate memory, PartWork numbers.
	Each(n int, p Parts)
}

// Parts is a step in parts, see [Team].
type Parts interface {
	Part(k int, own []float64)
}

// Job is a factorisation, or the adjoint of one, while it is under way: step by step, each in
// parts. What the parts are depends on the order of the matrix alone, and each number is computed
// in one of them: results do not depend on who does what. A job can be used again and again, for
// one matrix at a time. The zero job is one without a team.
type Job struct {
	Team Team // nil: the caller alone does all parts

	k        *Kernels
	n, m, s  int       // order, rounded up to whole tiles, and the distance of rows
	block    int       // of rows that are worked on together
	matrix   []float64 // m rows
	saved    []float64 // of a factorisation, by rows of tiles: the coefficients of their triangles
	from, to []float64 // argument and result
	lower    []float64 // of an adjoint, the factor
	own      []float64 // of the caller's own
	failed   bool      // a pivot is not positive

	// Of the present step.
	step         step // what is done to rows or columns
	left, right  int  // its columns
	first, width int  // of the first part, and of others
	byRows       bool // they are rows, and the last ones come first
	top, bottom  int  // the block of rows that is worked on
	done         int  // terms before it, or from it on, have been subtracted already
}

// ready readies a job for a matrix of order n: memory for it and for the coefficients of
// triangles; what is left of the work space is the caller's own. From order copied on panels are
// copied. Who works alone works on as many rows together as can be: the numbers are the same.
func (j *Job) ready(k *Kernels, n, copied int, work []float64) {
	j.k, j.n, j.m, j.failed = k, n, up(n, k.rows), false
	j.s = stride(j.m)
	c := call{rest: aligned(work)}
	j.matrix = c.take(j.m * j.s)
	j.saved = c.take(j.m / k.rows * k.triangleSize())
	j.own = c.rest
	switch {
	case j.Team != nil:
		j.block = inner
	case j.m >= copied:
		j.block = outer
	default:
		j.block = j.m
	}
}

// jobWork is what a work space has for ready.
func (k *Kernels) jobWork(n int) int {
	m := up(n, k.rows)
	return 7 + up(m*stride(m), 8) + up(m/k.rows*k.triangleSize(), 8)
}

// triangleSize is how many numbers of scratch memory are coefficients of a triangle.
func (k *Kernels) triangleSize() int { return k.inverses + k.rows - k.coefficients }

// columns does a step for columns from left on, so many of them in a part: first in the first one.
// For who works alone they are one part.
func (j *Job) columns(step step, left, first, width int) {
	if j.Team == nil {
		first = j.m - left
	}
	j.step, j.left, j.right, j.first, j.width, j.byRows = step, left, j.m, first, width, false
	j.all(1 + max(0, (j.right-left-first+width-1)/width))
}

// eachRow does a step for the rows of the matrix.
func (j *Job) eachRow(step step) {
	j.step, j.left, j.right, j.first, j.width, j.byRows = step, 0, j.n, j.block, j.block, true
	j.all((j.n + j.block - 1) / j.block)
}

func (j *Job) all(parts int) {
	if j.Team != nil && parts > 1 {
		j.Team.Each(parts, j)
		return
	}
	for k := range parts {
		j.Part(k, j.own)
	}
}

// Part implements [Parts].
func (j *Job) Part(k int, own []float64) {
	c := j.k.begin(own)
	from, to := j.left, j.left+j.first
	if j.byRows {
		k = (j.right-1)/j.width - k // the longest rows first
	}
	if k > 0 {
		from = to + (k-1)*j.width
		to = from + j.width
	}
	to = min(to, j.right)
	switch j.step { // calls of functions that are values would allocate c
	case transposeRows:
		j.transposeRows(&c, from, to)
	case subtractAbove:
		j.subtractAbove(&c, from, to)
	case eliminate:
		j.eliminate(&c, from, to)
	case factorRows:
		j.factorRows(&c, from, to)
	case subtractBelow:
		j.subtractBelow(&c, from, to)
	case substitute:
		j.substitute(&c, from, to)
	case adjointRows:
		j.adjointRows(from, to)
	}
}

// step is what is done to some rows or columns.
type step int

// The steps of factorisations, then of adjoints; the first is one of both.
const (
	transposeRows step = iota
	subtractAbove
	eliminate
	factorRows
	subtractBelow
	substitute
	adjointRows
)

// aligned is what is left of a work space from the beginning of a line of the cache on.
func aligned(work []float64) []float64 {
	return work[int(-uintptr(unsafe.Pointer(unsafe.SliceData(work)))/8)&7:]
}
