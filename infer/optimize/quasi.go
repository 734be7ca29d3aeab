package optimize

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// inverseHessian approximates the inverse of the Hessian of the objective.
type inverseHessian interface {
	// update adds a step s and the change y of the gradient along it, where yᵀs > 0. With reset it
	// first forgets all earlier steps, and returns the ratio of the curvature along s to that of
	// the unit matrix; otherwise it returns 1.
	update(y, s []float64, reset bool) float64
	// direction writes the product of the matrix and −g to p.
	direction(p, g []float64)
}

// quasiNewton makes one iteration of L-BFGS or BFGS.
func (s *ascent) quasiNewton() error {
	s.iteration++
	s.note = ""
	reset := s.iteration == 1
	short := false
	for failures := 0; ; failures++ {
		if reset {
			floats.ScaleTo(s.p, -1, s.g)
		}
		s.alpha0 = s.options.InitAlpha
		if s.iteration > 1 && failures == 0 {
			// Start from the minimum of a cubic that fits the objective along the last step.
			along := cubicMinimum(floats.Dot(s.oldG, s.oldP), s.oldAlpha, s.f-s.oldF, floats.Dot(s.g, s.oldP), minAlpha, 1)
			s.alpha0 = min(1, 1.01*along)
		}
		if short {
			s.alpha0 = 1 / floats.Norm(s.g, 2)
		}
		l := lineSearch{objective: s.objective, x: s.x, g: s.g, p: s.p, f: s.f}
		found, err := l.run(s.alpha0, s.oldX, s.oldG)
		if err != nil {
			s.iteration--
			return err
		}
		if found {
			s.alpha = l.alpha
			s.x, s.oldX = s.oldX, s.x
			s.g, s.oldG = s.oldG, s.g
			s.p, s.oldP = s.oldP, s.p
			s.f, s.oldF = l.newF, s.f
			break
		}
		switch {
		case !reset:
		case s.iteration == 1 && !short:
			// Stan gives up here. From a steep start, such as with data on a large scale, even the
			// retreats end at points that cannot be evaluated. As a last attempt, try a step of
			// length one.
			short = true
			continue
		default:
			s.reason = LineSearchFailed
			return nil
		}
		reset, s.note = true, "LS failed, Hessian reset"
	}
	d := len(s.x)
	if len(s.room) < 2*d {
		s.room = make([]float64, max(1, min(pairsAtOnce, maxAtOnce/(2*d)))*2*d)
	}
	step, change := s.room[:d:d], s.room[d:2*d:2*d]
	s.room = s.room[2*d:]
	floats.SubTo(step, s.x, s.oldX)
	floats.SubTo(change, s.g, s.oldG)
	s.lastStep, s.lastChange = step, change
	s.step = floats.Norm(step, 2)
	s.oldAlpha = s.alpha
	if floats.Dot(step, change) > 0 { // ensured by the line search, except for rounding
		scale := s.approx.update(change, step, reset)
		floats.Scale(1/scale, s.oldP)
		s.oldAlpha *= scale
	}
	s.approx.direction(s.p, s.g)
	if !(floats.Dot(s.p, s.g) < 0) {
		floats.ScaleTo(s.p, -1, s.g)
	}
	s.reason = s.converged()
	return nil
}

// pairsAtOnce is the number of pairs of steps and changes that share an allocation, if these are at
// most maxAtOnce numbers. Memory that is shared is released only when no pair needs it.
const (
	pairsAtOnce = 8
	maxAtOnce   = 1 << 14
)

// limited is the inverse Hessian of L-BFGS: the last pairs of steps and changes of the gradient.
type limited struct {
	keep    int
	y, s    [][]float64 // the oldest first
	rho     []float64   // 1 / yᵀs
	gamma   float64     // scale of the initial unit matrix
	weights []float64
}

func newLimited(_, history int) *limited {
	numbers, pairs := make([]float64, 2*history), make([][]float64, 2*history)
	return &limited{keep: history, gamma: 1, weights: numbers[:history], rho: numbers[history:history],
		y: pairs[:0:history], s: pairs[history:history]}
}

func (l *limited) update(y, s []float64, reset bool) float64 {
	if reset {
		l.y, l.s, l.rho = l.y[:0], l.s[:0], l.rho[:0]
	}
	if len(l.y) == l.keep {
		l.y, l.s, l.rho = slices.Delete(l.y, 0, 1), slices.Delete(l.s, 0, 1), slices.Delete(l.rho, 0, 1)
	}
	ys, yy := floats.Dot(y, s), floats.Dot(y, y)
	l.y, l.s, l.rho = append(l.y, y), append(l.s, s), append(l.rho, 1/ys)
	l.gamma = ys / yy
	if reset {
		return yy / ys
	}
	return 1
}

// direction is algorithm 7.4 of Nocedal and Wright: two loops over the history.
func (l *limited) direction(p, g []float64) {
	floats.ScaleTo(p, -1, g)
	for i := len(l.y) - 1; i >= 0; i-- {
		l.weights[i] = l.rho[i] * floats.Dot(l.s[i], p)
		floats.AddScaled(p, -l.weights[i], l.y[i])
	}
	floats.Scale(l.gamma, p)
	for i := range l.y {
		floats.AddScaled(p, l.weights[i]-l.rho[i]*floats.Dot(l.y[i], p), l.s[i])
	}
}

// full is the inverse Hessian of BFGS: the whole matrix.
type full struct {
	h  blas64.Symmetric
	hy []float64
}

func newFull(d int) *full {
	f := &full{h: blas64.Symmetric{N: d, Stride: max(d, 1), Data: make([]float64, d*d), Uplo: blas.Upper}, hy: make([]float64, d)}
	f.identity(1)
	return f
}

func (f *full) identity(scale float64) {
	clear(f.h.Data)
	for i := range f.h.N {
		f.h.Data[i*f.h.Stride+i] = scale
	}
}

// update is equation 6.17 of Nocedal and Wright, multiplied out:
// H + (1 + yᵀHy/yᵀs)·ssᵀ/yᵀs − (Hy·sᵀ + s·yᵀH)/yᵀs.
func (f *full) update(y, s []float64, reset bool) float64 {
	scale := 1.0
	ys := floats.Dot(y, s)
	if reset {
		scale = floats.Dot(y, y) / ys
		f.identity(1 / scale)
	}
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
	blas64.Symv(1, f.h, vector(y), 0, vector(f.hy))
	yHy := floats.Dot(y, f.hy)
	blas64.Syr((1+yHy/ys)/ys, vector(s), f.h)
	blas64.Syr2(-1/ys, vector(f.hy), vector(s), f.h)
	return scale
}

func (f *full) direction(p, g []float64) {
	blas64.Symv(-1, f.h, blas64.Vector{N: len(g), Inc: 1, Data: g}, 0, blas64.Vector{N: len(p), Inc: 1, Data: p})
}

// cubicMinimum returns the x in [lo, hi] at which a cubic has its minimum. The cubic is 0 with
// slope slope0 at 0, and f1 with slope slope1 at x1.
func cubicMinimum(slope0, x1, f1, slope1, lo, hi float64) float64 {
	// q(x) = slope0·x + b·x² + c·x³
	b := (3*f1/x1 - 2*slope0 - slope1) / x1
	c := (slope0 + slope1 - 2*f1/x1) / (x1 * x1)
	q := func(x float64) float64 { return x * (slope0 + x*(b+x*c)) }
	best, least := lo, q(lo)
	consider := func(x float64) {
		if x >= lo && x <= hi && q(x) < least {
			best, least = x, q(x)
		}
	}
	consider(hi)
	if root := math.Sqrt(b*b - 3*slope0*c); !math.IsNaN(root) {
		// Both roots of q′, computed without cancellation.
		t := -(b + math.Copysign(root, b))
		consider(t / (3 * c))
		consider(slope0 / t)
	}
	return best
}
