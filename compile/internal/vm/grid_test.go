package vm

import (
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestGrids checks blocks whose elements are the rows and columns of a grid: numbers loaded by row
// and by column, sums by row, by column and of all, also several into one array, and checks that
// fail. Rows are shorter and longer than a strip, and as long as whole vectors or not.
func TestGrids(t *testing.T) {
	columns := short.Turns(4, []int{2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 50, 63, 64, 65, 100, 255, 256, 257, 504, 511, 512, 513, 520, 1000, 1024, 1040})
	for _, parts := range []bool{false, true} {
		for _, J := range columns {
			for _, I := range []int{2, 3, 21, 40} {
				t.Run(fmt.Sprint(parts, I, J), func(t *testing.T) {
					if parts {
						finely(t)
					}
					g, in := gridGraph(I, J, (I+J)%2 == 1)
					sameForAll(t, "grid", g, in, 1e-11)
					if rows := in[0]; I*J > maxStrip && J >= minRow && J < maxStrip && !parts {
						if m := runGraph(t, g, in...); !m.hasGrid() {
							t.Error("no block has rows")
						}
						rows[I-1] = 1e9 // fails a check
						sameForAll(t, "failing", g, in, 1e-11)
					}
				})
			}
		}
	}
}

// gridGraph returns a graph over a grid, whose maps are tables if listed is set.
func gridGraph(I, J int, listed bool) (*ad.Graph, [][]float64) {
	g := ad.NewGraph()
	theta, b, y := g.Input(ad.Type{Shape: []int{I}}), g.Input(ad.Type{Shape: []int{J + 2}}), g.Input(ad.Type{Shape: []int{I * J}})
	index := func(off int, dims ...ad.Dim) ad.Index {
		ix := ad.Index{Offset: off, Dims: dims}
		if listed {
			var table []int32
			ix.Each(func(_, elem int) { table = append(table, int32(elem)) })
			return ad.Index{Dims: []ad.Dim{{N: I * J, Table: table}}}
		}
		return ix
	}
	shaped := func(x ad.Ref) ad.Ref { return g.Reshape(x, []int{I * J}) }
	byRow := index(0, ad.Dim{N: I, Stride: 1}, ad.Dim{N: J})
	byColumn := func(off int) ad.Index { return index(off, ad.Dim{N: I}, ad.Dim{N: J, Stride: 1}) }
	r, c := shaped(g.Gather(theta, byRow)), shaped(g.Gather(b, byColumn(1)))
	x := g.Mul(g.Sub(r, c), y)
	g.Check(&ad.Check{Set: ad.Interval{Lo: -1e6, Hi: 1e6}, Function: "f", Name: "x", Want: "small"}, x)
	e := g.Exp(g.Neg(g.Square(x)))
	g.Output(g.Sum(g.Do(ad.OpLog1pExp, nil, x)))
	g.Output(g.Sum(g.Mul(e, y)))
	g.Output(e)
	of := func(x ad.Ref) ad.Ref {
		if listed {
			return x
		}
		return g.Reshape(x, []int{I, J})
	}
	g.Output(g.Add(theta, g.Scatter(of(e), byRow, []int{I})))
	g.Output(g.Scatter(of(g.Mul(e, c)), byColumn(0), []int{J}))
	// Two sums into one array, a column apart unless they are tables.
	apart := 2
	if listed {
		apart = 1
	}
	g.Output(g.Add(g.Scatter(of(x), byColumn(1), []int{J + 2}), g.Scatter(of(g.Mul(x, e)), byColumn(apart), []int{J + 2})))
	return g, [][]float64{normals(I, 1), normals(J+2, 2), normals(I*J, 3)}
}

// hasGrid reports whether a block of the program has rows.
func (m *Machine) hasGrid() bool {
	for i := range m.p.blocks {
		if m.p.blocks[i].grid.row > 0 {
			return true
		}
	}
	return false
}
