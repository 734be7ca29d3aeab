package vm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// affine computes bodies of scans with exact numbers and with bounds of their errors, or builds
// their graphs.
type affine[T any] interface {
	add(x, y T) T
	sub(x, y T) T
	mul(x, y T) T
	number(x float64) T
}

type affineGraph struct{ *ad.Graph }

func (g affineGraph) add(x, y ad.Ref) ad.Ref  { return g.Add(x, y) }
func (g affineGraph) sub(x, y ad.Ref) ad.Ref  { return g.Sub(x, y) }
func (g affineGraph) mul(x, y ad.Ref) ad.Ref  { return g.Mul(x, y) }
func (g affineGraph) number(x float64) ad.Ref { return g.Const(x) }

// bounded is a number of 300 bits, the sum of the magnitudes of its terms, and a bound of its error
// in units of rounding.
type bounded struct {
	v       *big.Float
	size, e float64
}

type affineExact struct{}

func (affineExact) number(x float64) bounded {
	return bounded{new(big.Float).SetPrec(300).SetFloat64(x), math.Abs(x), 0}
}

func (affineExact) add(x, y bounded) bounded {
	size := x.size + y.size
	return bounded{new(big.Float).SetPrec(300).Add(x.v, y.v), size, x.e + y.e + size}
}

func (a affineExact) sub(x, y bounded) bounded {
	return a.add(x, bounded{new(big.Float).Neg(y.v), y.size, y.e})
}

func (affineExact) mul(x, y bounded) bounded {
	size := x.size * y.size
	return bounded{new(big.Float).SetPrec(300).Mul(x.v, y.v), size, x.e*y.size + y.e*x.size + size}
}

// affineBody returns the next number of one of several bodies that are affine in n.
func affineBody[T any](a affine[T], body int, n, x, y, z T) T {
	switch body {
	case 0: // exponential smoothing
		return a.add(n, a.mul(y, a.sub(x, n)))
	case 1: // a sum within a product within a product
		return a.add(z, a.mul(y, a.add(x, a.mul(a.number(0.7), n))))
	case 2: // three paths
		return a.sub(a.mul(a.add(n, x), y), a.mul(a.number(0.3), a.sub(a.add(z, n), a.mul(n, y))))
	}
	return a.add(x, a.mul(a.sub(a.mul(y, a.sub(n, x)), z), a.number(0.5)))
}

// TestAffine compares scans whose bodies are affine in the carried number with exact numbers, and
// checks that they look ahead. Rates of 0 and 1 give exact results.
func TestAffine(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	worst := 0.0
	for body := range 4 {
		for _, steps := range []int{0, 1, 2, 7, 8, 9, minAhead - 1, minAhead, minAhead + 1, 1000} {
			for _, rate := range []float64{0, 1, 0x1p-40, 1 - 0x1p-40, 0.3, 0.9} {
				b, g := ad.NewGraph(), ad.NewGraph()
				n, x, z, y := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
				b.Output(affineBody(affineGraph{b}, body, n, x, y, z))
				stream := ad.Type{Shape: []int{steps}}
				s := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 2, Steps: steps},
					[]ad.Ref{g.Input(ad.Scalar), g.Input(stream), g.Input(stream), g.Input(ad.Scalar)})
				g.Output(g.Final(s, 0))
				g.Output(g.History(s, 0))
				of := [2][]float64{make([]float64, steps), make([]float64, steps)}
				for k := range steps {
					of[0][k], of[1][k] = rng.NormFloat64(), rng.NormFloat64()
				}
				var e affineExact
				v := e.number(0.5)
				want := []bounded{v}
				for k := range steps {
					v = affineBody(e, body, v, e.number(of[0][k]), e.number(rate), e.number(of[1][k]))
					f, _ := v.v.Float64()
					v.size = math.Abs(f)
					want = append(want, v)
				}
				for _, target := range targetsHere() {
					p, err := Compile(g, passes.Options{})
					if err != nil {
						t.Fatal(err)
					}
					p.target = target
					ahead := false
					for i := range p.blocks {
						if r := p.blocks[i].reg; r != nil {
							c := r.control.(*counted).chain
							ahead = ahead || c != nil && c.distance != 0
						}
					}
					if steps >= 8 && !ahead {
						t.Fatalf("body %d, %d steps: does not look ahead\n%s", body, steps, p)
					}
					m := p.New()
					m.Input(0)[0], m.Input(3)[0] = 0.5, rate
					copy(m.Input(1), of[0])
					copy(m.Input(2), of[1])
					if err := m.Run(nil); err != nil {
						t.Fatal(err)
					}
					for k, w := range want {
						got := m.Output(0)[0]
						if k < steps {
							got = m.Output(1)[k]
						}
						f, _ := w.v.Float64()
						if body == 0 && (rate == 0 || rate == 1) && steps >= 8 && got != f {
							t.Errorf("rate %v, %d steps: number %d is %v, want %v exactly", rate, steps, k, got, f)
						}
						if got == f {
							continue
						}
						err := math.Abs(got-f) / (0x1p-53 * w.e)
						if worst = max(worst, err); !(err < 6) {
							t.Fatalf("body %d, rate %v, %d steps: number %d is %v, want %v: error %v", body, rate, steps, k, got, f, err)
						}
					}
				}
			}
		}
	}
	t.Logf("largest error: %.2g of the bound", worst)
}
