package whiten

import "gonum.org/v1/gonum/blas/blas64"

// workspace is memory that is taken in pieces and given back all together.
type workspace struct {
	room []float64
	used int // of room
	most int // numbers that were taken since the last reset
}

// reset gives all pieces back.
func (w *workspace) reset() {
	if w.most > len(w.room) {
		w.room = make([]float64, w.most)
	}
	w.used, w.most = 0, 0
}

// mark is a state of the workspace that release goes back to: it gives back what was taken since.
func (w *workspace) mark() workspace { return *w }

func (w *workspace) release(to workspace) { w.room, w.used = to.room, to.used }

// numbers is a piece of n numbers, whatever they are.
func (w *workspace) numbers(n int) []float64 {
	w.most += n
	if w.used+n > len(w.room) {
		const some = 256 // for many small pieces
		w.room, w.used = make([]float64, max(n, len(w.room), some)), 0
	}
	piece := w.room[w.used : w.used+n : w.used+n]
	w.used += n
	return piece
}

// matrix is one of r rows and c columns, whatever is in it.
func (w *workspace) matrix(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(c, 1), Data: w.numbers(r * c)}
}

// row is row i of a matrix.
func row(m blas64.General, i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}
