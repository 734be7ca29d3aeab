package whiten

import "gonum.org/v1/gonum/blas/blas64"

// workspace is memory from which pieces are taken. All are given back at once.
type workspace struct {
	room []float64
	used int // number of numbers of room in use
	most int // maximum amount of numbers taken since the last reset
}

// reset gives all pieces back.
func (w *workspace) reset() {
	if w.most > len(w.room) {
		w.room = make([]float64, w.most)
	}
	w.used, w.most = 0, 0
}

// reserve makes room for n numbers.
func (w *workspace) reserve(n int) {
	if w.used+n > len(w.room) {
		w.room, w.used = make([]float64, n), 0
	}
}

// mark returns the state of the workspace, for release, which gives back the memory taken since
// then.
func (w *workspace) mark() workspace { return *w }

func (w *workspace) release(to workspace) { w.room, w.used = to.room, to.used }

// numbers returns memory for n numbers, with arbitrary content.
func (w *workspace) numbers(n int) []float64 {
	w.most += n
	if w.used+n > len(w.room) {
		const some = 256 // minimum size, so that many small pieces share an allocation
		w.reserve(max(n, 2*len(w.room), some))
	}
	piece := w.room[w.used : w.used+n : w.used+n]
	w.used += n
	return piece
}

// matrix returns memory for a matrix of r rows and c columns, with arbitrary content.
func (w *workspace) matrix(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(c, 1), Data: w.numbers(r * c)}
}

// row returns row i of a matrix.
func row(m blas64.General, i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

func rowsOf(m blas64.General) func(i int) []float64 {
	return func(i int) []float64 { return row(m, i) }
}
