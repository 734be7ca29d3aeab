package passes

import (
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/ad"
)

// triangle computes R of the QR decomposition of rows that come one after another, by blocks: it
// places the R so far above the next rows.
type triangle struct {
	width int
	block []float64 // room for R, and the rows since
	rows  int       // number of rows since
	whole bool      // the room for R is in use
}

func newTriangle(width int) *triangle {
	return &triangle{width: width, block: make([]float64, (width+blockRows)*width)}
}

// next returns the next row, to be set.
func (t *triangle) next() []float64 {
	if t.rows == blockRows {
		t.factorise()
	}
	at := (t.width + t.rows) * t.width
	t.rows++
	return t.block[at : at+t.width]
}

func (t *triangle) factorise() {
	above := t.width
	if !t.whole && t.rows >= t.width {
		above = 0
	}
	var qr mat.QR
	qr.Factorize(mat.NewDense(above+t.rows, t.width, t.block[(t.width-above)*t.width:(t.width+t.rows)*t.width]))
	var r mat.Dense
	qr.RTo(&r)
	for i := range t.width {
		copy(t.block[i*t.width+i:(i+1)*t.width], r.RawRowView(i)[i:])
	}
	t.rows, t.whole = 0, true
}

// squares returns the sum of the squares of R times the coefficients c.
func (t *triangle) squares(g *ad.Graph, c ad.Ref) ad.Ref {
	if t.rows > 0 {
		t.factorise()
	}
	var parts []ad.Ref
	each := triangleRows(t.width)
	for from := 0; from < t.width; from += each {
		n, right := min(each, t.width-from), t.width-from
		block := g.Array(n, right)
		for i := range n {
			copy(block[i*right:(i+1)*right], t.block[(from+i)*t.width+from:])
		}
		parts = append(parts, product(g, block, g.Slice(c, from, []int{right, 1})))
	}
	return g.Sum(g.Square(g.Concat(parts...)))
}

// triangleRows returns the number of rows of R whose leading zeros are left out together. width is
// the number of columns.
func triangleRows(width int) int {
	if width < minTriangle {
		return width
	}
	return (width/triangleBlocks + 7) / 8 * 8
}

// triangleSize returns the number of elements of R without the zeros that are left out.
func triangleSize(width int) (size float64) {
	each := triangleRows(width)
	for from := 0; from < width; from += each {
		size += float64(min(each, width-from) * (width - from))
	}
	return size
}
