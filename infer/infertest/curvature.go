package infertest

import (
	"errors"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// Some targets also have a Hessian or an expected Fisher information, from which package riemann
// makes metrics. That package says what these methods compute.

// Hessian writes the second derivatives of the log density.
func (b Banana) Hessian(x, h []float64) error {
	r := x[1] - b.center(x[0])
	h[0] = -1/(b.Sigma*b.Sigma) + 2*b.B*r - 4*b.B*b.B*x[0]*x[0]
	h[1], h[2] = 2*b.B*x[0], 2*b.B*x[0]
	h[3] = -1
	return nil
}

// HessianTraceGrad writes the gradient of tr(A·H(x)).
func (b Banana) HessianTraceGrad(x, a, grad []float64) error {
	grad[0] = -12*b.B*b.B*x[0]*a[0] + 2*b.B*(a[1]+a[2])
	grad[1] = 2 * b.B * a[0]
	return nil
}

// FisherMetric writes the information about x in the two normals.
func (b Banana) FisherMetric(x, g []float64) error {
	g[0] = 1/(b.Sigma*b.Sigma) + 4*b.B*b.B*x[0]*x[0]
	g[1], g[2] = -2*b.B*x[0], -2*b.B*x[0]
	g[3] = 1
	return nil
}

// FisherTraceGrad writes the gradient of tr(A·G(x)).
func (b Banana) FisherTraceGrad(x, a, grad []float64) error {
	grad[0] = 8*b.B*b.B*x[0]*a[0] - 2*b.B*(a[1]+a[2])
	grad[1] = 0
	return nil
}

// Hessian writes the second derivatives of the log density.
func (f Funnel) Hessian(x, h []float64) error {
	d := len(x)
	clear(h)
	e := math.Exp(-x[0])
	h[0] = -1. / 9
	for i := 1; i < d; i++ {
		h[0] -= 0.5 * e * x[i] * x[i]
		h[i], h[i*d] = e*x[i], e*x[i]
		h[i*d+i] = -e
	}
	return nil
}

// HessianTraceGrad writes the gradient of tr(A·H(x)).
func (f Funnel) HessianTraceGrad(x, a, grad []float64) error {
	d := len(x)
	e := math.Exp(-x[0])
	grad[0] = 0
	for i := 1; i < d; i++ {
		off := a[i] + a[i*d]
		grad[0] += e * (0.5*a[0]*x[i]*x[i] - off*x[i] + a[i*d+i])
		grad[i] = e * (off - a[0]*x[i])
	}
	return nil
}

// FisherMetric writes the information about x in the two levels.
func (f Funnel) FisherMetric(x, g []float64) error {
	d := len(x)
	clear(g)
	g[0] = 1./9 + 0.5*float64(d-1)
	for i := 1; i < d; i++ {
		g[i*d+i] = math.Exp(-x[0])
	}
	return nil
}

// FisherTraceGrad writes the gradient of tr(A·G(x)).
func (f Funnel) FisherTraceGrad(x, a, grad []float64) error {
	d := len(x)
	clear(grad)
	for i := 1; i < d; i++ {
		grad[0] -= a[i*d+i] * math.Exp(-x[0])
	}
	return nil
}

// FisherMetric writes XᵀΛX + I/Scale².
func (r *LogisticRegression) FisherMetric(b, g []float64) error {
	clear(g)
	for j := range r.D {
		g[j*r.D+j] = 1 / (r.Scale * r.Scale)
	}
	r.rows(b, func(x []float64, p float64) {
		for j, xj := range x {
			for k, xk := range x {
				g[j*r.D+k] += p * (1 - p) * xj * xk
			}
		}
	})
	return nil
}

// FisherTraceGrad writes the gradient of tr(A·G(x)).
func (r *LogisticRegression) FisherTraceGrad(b, a, grad []float64) error {
	clear(grad)
	r.rows(b, func(x []float64, p float64) {
		q := 0.0
		for j, xj := range x {
			for k, xk := range x {
				q += a[j*r.D+k] * xj * xk
			}
		}
		for j, xj := range x {
			grad[j] += q * p * (1 - p) * (1 - 2*p) * xj
		}
	})
	return nil
}

// rows calls f for each row with its probability of success.
func (r *LogisticRegression) rows(b []float64, f func(x []float64, p float64)) {
	for i := range r.Y {
		x := r.X[i*r.D : (i+1)*r.D]
		eta := 0.0
		for j, xj := range x {
			eta += xj * b[j]
		}
		f(x, 1/(1+math.Exp(-eta)))
	}
}

// Curved is an artificial metric for any target: positive definite, full, and different at every
// point. G = diag(Scale² (1 + ½ tanh x_i)) + u uᵀ with u_i = ½ Scale sin x_i.
type Curved struct {
	D     int
	Scale float64 // 0: 1
}

func (c Curved) scale() float64 {
	if c.Scale == 0 {
		return 1
	}
	return c.Scale
}

// Dim is the dimension of the metric.
func (c Curved) Dim() int { return c.D }

// Metric writes G(x).
func (c Curved) Metric(x, g []float64) error {
	s := c.scale()
	for i, xi := range x {
		for j, xj := range x {
			g[i*c.D+j] = 0.25 * s * s * math.Sin(xi) * math.Sin(xj)
		}
		g[i*c.D+i] += s * s * (1 + 0.5*math.Tanh(xi))
	}
	return nil
}

// TraceGrad writes the gradient of tr(A·G(x)).
func (c Curved) TraceGrad(x, a, grad []float64) error {
	s := c.scale()
	for i, xi := range x {
		au := 0.0
		for j, xj := range x {
			au += (a[i*c.D+j] + a[j*c.D+i]) * 0.5 * s * math.Sin(xj)
		}
		ch := math.Cosh(xi)
		grad[i] = a[i*c.D+i]*s*s*0.5/(ch*ch) + au*0.5*s*math.Cos(xi)
	}
	return nil
}

// CheckMetric returns an error if a metric G, or a target's Hessian, is inconsistent at x. It
// checks that G is symmetric, and that the gradient of tr(A·G) agrees with finite differences for a
// few symmetric A.
func CheckMetric(x []float64, metric func(x, g []float64) error, traceGrad func(x, a, grad []float64) error) error {
	d := len(x)
	g := make([]float64, d*d)
	if err := metric(x, g); err != nil {
		return err
	}
	for i := range d {
		for j := range i {
			if math.Abs(g[i*d+j]-g[j*d+i]) > 1e-9*(math.Abs(g[i*d+j])+math.Abs(g[i*d+i])+math.Abs(g[j*d+j])) {
				return fmt.Errorf("elements (%d,%d) and (%d,%d) are %v and %v", i, j, j, i, g[i*d+j], g[j*d+i])
			}
		}
	}
	for k := range 4 {
		rng := infer.Stream(1, k, "metric", 0)
		a := make([]float64, d*d)
		for i := range d {
			for j := range i + 1 {
				v := rng.NormFloat64()
				a[i*d+j], a[j*d+i] = v, v
			}
		}
		if err := CheckGradient(&trace{d, a, g, metric, traceGrad}, x); err != nil {
			return fmt.Errorf("the gradient of tr(A·G): %w", err)
		}
	}
	return nil
}

// trace is tr(A·G(x)) as a function with a gradient.
type trace struct {
	dim       int
	a, g      []float64
	metric    func(x, g []float64) error
	traceGrad func(x, a, grad []float64) error
}

func (t *trace) Dim() int { return t.dim }

func (t *trace) LogDensityGrad(x, grad []float64) (float64, error) {
	if err := errors.Join(t.metric(x, t.g), t.traceGrad(x, t.a, grad)); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, v := range t.a {
		sum += v * t.g[i]
	}
	return sum, nil
}
