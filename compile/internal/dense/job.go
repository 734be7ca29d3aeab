package dense

import "unsafe"

// Team is a group of workers that share the parts of a step.
type Team interface {
	// Each runs parts 0 to n-1 of p and returns when all are done. The parts are independent: any
	// worker may run any of them, in any order and concurrently. Each worker needs its own memory
	// of PartWork numbers.
	Each(n int, p Parts)
}

// Parts is a step divided into parts, see [Team].
type Parts interface {
	Part(k int, own []float64)
}

// Job is the state of a factorisation or its adjoint. It consists of steps, each of which is
// divided into parts. Each number is computed in one part, so results do not depend on which worker
// runs a part. You can reuse a job for other matrices, one at a time. The zero Job has no team.
type Job struct {
	Team Team // nil: the caller runs all parts

	k        *Kernels
	n, m, s  int       // order, order rounded up to whole tiles, and distance of rows
	block    int       // number of rows in a block
	matrix   []float64 // the matrix that is being factorised or solved, with m rows
	saved    []float64 // in a factorisation: the coefficients of triangles, for each row of tiles
	from, to []float64 // argument and result
	lower    []float64 // in an adjoint: the factor
	own      []float64 // the caller's work space for parts
	failed   bool      // a pivot is not positive

	// The state of the current step.
	step         step // the operation on rows or columns
	left, right  int  // the columns on which it works
	first, width int  // widths of the first part and of the others
	byRows       bool // the parts are rows, and the last ones come first
	top, bottom  int  // the current block of rows
	done         int  // the contributions of rows before this one (in an adjoint: from it on) are already subtracted
}

// ready prepares a job for a matrix of order n. It takes memory for the matrix and the coefficients
// of triangles from the work space; the rest is for the caller's parts. From order copied on,
// panels are copied. Without a team, blocks are as large as possible; that does not change results.
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

// jobWork returns the size of the memory that ready takes.
func (k *Kernels) jobWork(n int) int {
	m := up(n, k.rows)
	return 7 + up(m*stride(m), 8) + up(m/k.rows*k.triangleSize(), 8)
}

// triangleSize returns the number of coefficients of a triangle in scratch memory.
func (k *Kernels) triangleSize() int { return k.inverses + k.rows - k.coefficients }

// columns runs a step for the columns from left on. The first part has first columns, the others
// width. Without a team there is one part.
func (j *Job) columns(step step, left, first, width int) {
	if j.Team == nil {
		first = j.m - left
	}
	j.step, j.left, j.right, j.first, j.width, j.byRows = step, left, j.m, first, width, false
	j.all(1 + max(0, (j.right-left-first+width-1)/width))
}

// eachRow runs a step for the rows of the matrix.
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
		k = (j.right-1)/j.width - k // begin with the longest rows, which are the last
	}
	if k > 0 {
		from = to + (k-1)*j.width
		to = from + j.width
	}
	to = min(to, j.right)
	switch j.step { // not by function values, which would make c escape to the heap
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

// step is an operation on some rows or columns.
type step int

// The steps of factorisations, then those of adjoints. Both use the first one.
const (
	transposeRows step = iota
	subtractAbove
	eliminate
	factorRows
	subtractBelow
	substitute
	adjointRows
)

// aligned returns the part of a work space from the beginning of a cache line on.
func aligned(work []float64) []float64 {
	return work[int(-uintptr(unsafe.Pointer(unsafe.SliceData(work)))/8)&7:]
}
