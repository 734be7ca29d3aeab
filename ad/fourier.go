package ad

import (
	"errors"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// fourierAttr is the attribute of OpFourier. It keeps the plans of transforms for later
// evaluations, of which several may run at once.
type fourierAttr struct {
	inverse bool
	plans   *sync.Pool
}

type fourierPlan struct {
	fft *fourier.CmplxFFT
	x   []complex128
}

// AppendKey implements Keyed. Transforms of one value in the same direction are thereby merged.
func (f fourierAttr) AppendKey(b []byte) []byte { return strconv.AppendBool(b, f.inverse) }

// Fourier returns the discrete Fourier transforms of the rows of a complex k×n matrix, given and
// returned as its real and imaginary parts: the sums of x_j exp(-2πi jk/n) or, with inverse, of x_j
// exp(2πi jk/n).
func (g *Graph) Fourier(re, im Ref, inverse bool) (outRe, outIm Ref) {
	s := g.Type(re).Shape
	k, n := s[0], s[1]
	flat := g.Concat(g.Reshape(re, []int{k * n}), g.Reshape(im, []int{k * n}))
	r := g.Do(OpFourier, newFourier(inverse, n), g.Reshape(flat, []int{2, k, n}))
	return g.Slice(r, 0, s), g.Slice(r, k*n, s)
}

func newFourier(inverse bool, n int) fourierAttr {
	return fourierAttr{inverse, &sync.Pool{New: func() any {
		return &fourierPlan{fourier.NewCmplxFFT(n), make([]complex128, n)}
	}}}
}

func fourierOp() Op {
	return Op{Name: "fourier", Class: Array, Arity: 1, Total: true,
		Shape: func(args []Type, _ any) (Type, error) {
			if s := args[0].Shape; len(s) != 3 || s[0] != 2 {
				return Type{}, errors.New("no real and imaginary parts")
			}
			return Type{Shape: args[0].Shape}, nil
		},
		Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
			f := attr.(fourierAttr)
			rows, n := types[0].Shape[1], types[0].Shape[2]
			if n == 0 {
				return nil
			}
			p := f.plans.Get().(*fourierPlan)
			defer f.plans.Put(p)
			for r := range rows {
				re, im := args[0][r*n:(r+1)*n], args[0][(rows+r)*n:(rows+r+1)*n]
				for i := range n {
					p.x[i] = complex(re[i], im[i])
				}
				if f.inverse {
					p.fft.Sequence(p.x, p.x)
				} else {
					p.fft.Coefficients(p.x, p.x)
				}
				for i, x := range p.x {
					dst[r*n+i], dst[(rows+r)*n+i] = real(x), imag(x)
				}
			}
			return nil
		},
		// The op is linear; its adjoint is the transform in the other direction.
		VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
			f := n.Attr.(fourierAttr)
			return []Ref{g.reduceLanes(g.Do(OpFourier, newFourier(!f.inverse, g.Type(n.Args[0]).Shape[2]), adj), n.Args[0])}
		}}
}
