package tempered

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Component is a normal distribution of a mixture, with mean Normal.Mean (nil: 0) and covariance
// Normal.Inverse, of any kind.
type Component struct {
	Weight float64 // positive; those of a mixture need not add up to 1
	Normal infer.Metric
}

// Mixture is a normalised mixture of normal distributions, used as a reference. It has work space,
// so it is not safe for concurrent use.
type Mixture struct {
	parts []part
	logs  []float64 // work space: log densities of the parts, including weights
	x, y  []float64 // work space
}

// part is a Component prepared for evaluation.
type part struct {
	Component
	to       *whiten.Map
	log      float64 // log weight plus the log of the normalising constant
	mean     []float64
	diagonal []float64   // Unit, Diagonal: precision by coordinate; LowRank: S⁻²
	dense    []float64   // Dense: the precision matrix
	vectors  [][]float64 // LowRank: rows U
	values   []float64   // LowRank: 1/Λ - 1
	force    []float64   // work space: -precision·(x - mean)
}

// NewMixture makes a mixture of components of the same dimension. It returns an error if there are
// no components, a weight is not positive, or a covariance is not positive definite.
func NewMixture(components []Component) (*Mixture, error) {
	if len(components) == 0 {
		return nil, errors.New("tempered: a mixture without components")
	}
	m := &Mixture{logs: make([]float64, len(components))}
	total := 0.0
	for _, c := range components {
		if !(c.Weight > 0) || math.IsInf(c.Weight, 1) {
			return nil, fmt.Errorf("tempered: the weight %v of a component is not positive", c.Weight)
		}
		total += c.Weight
	}
	dim := components[0].Normal.Dim
	for _, c := range components {
		if c.Normal.Dim != dim {
			return nil, errors.New("tempered: the components of a mixture have different dimensions")
		}
		p, err := newPart(c, total)
		if err != nil {
			return nil, err
		}
		m.parts = append(m.parts, p)
	}
	m.x, m.y = make([]float64, dim), make([]float64, dim)
	return m, nil
}

func newPart(c Component, total float64) (part, error) {
	to, err := whiten.NewMap(c.Normal)
	if err != nil {
		return part{}, fmt.Errorf("tempered: %w", err)
	}
	c.Normal, c.Weight = to.Metric(), c.Weight/total
	d := c.Normal.Dim
	p := part{Component: c, to: to, mean: make([]float64, d), force: make([]float64, d)}
	copy(p.mean, c.Normal.Mean)
	logDet := 0.0 // log determinant of the covariance
	switch c.Normal.Kind {
	case infer.Unit, infer.Diagonal:
		p.diagonal = make([]float64, d)
		for i := range p.diagonal {
			p.diagonal[i] = 1
			if c.Normal.Kind == infer.Diagonal {
				p.diagonal[i] = 1 / c.Normal.Inverse[i]
				logDet += math.Log(c.Normal.Inverse[i])
			}
		}
	case infer.LowRank:
		scale, values, vectors := c.Normal.LowRank()
		p.vectors = vectors
		for _, s := range scale {
			p.diagonal = append(p.diagonal, 1/(s*s))
			logDet += 2 * math.Log(s)
		}
		for _, v := range values {
			p.values = append(p.values, 1/v-1)
			logDet += math.Log(v)
		}
	case infer.Dense:
		if d == 0 {
			break
		}
		var factor mat.Cholesky
		if !factor.Factorize(mat.NewSymDense(d, append([]float64(nil), c.Normal.Inverse...))) {
			return part{}, errors.New("tempered: a covariance is not positive definite")
		}
		var inverse mat.SymDense
		if err := factor.InverseTo(&inverse); err != nil {
			return part{}, fmt.Errorf("tempered: a covariance is next to singular: %w", err)
		}
		p.dense = make([]float64, d*d)
		for i := range d {
			for j := range d {
				p.dense[i*d+j] = inverse.At(i, j)
			}
		}
		logDet = factor.LogDet()
	}
	p.log = math.Log(c.Weight) - 0.5*(logDet+float64(d)*math.Log(2*math.Pi))
	return p, nil
}

// Components returns the components of the mixture, with weights that sum to 1.
func (m *Mixture) Components() []Component {
	var out []Component
	for _, p := range m.parts {
		c := p.Component
		c.Normal = p.to.Metric()
		out = append(out, c)
	}
	return out
}

// at returns the log density of the component at x. It writes the gradient to p.force, and uses y
// as work space.
func (p *part) at(x, y []float64) float64 {
	floats.SubTo(y, x, p.mean)
	f := p.force
	switch {
	case p.dense != nil:
		d := len(x)
		for i := range f {
			f[i] = -floats.Dot(p.dense[i*d:(i+1)*d], y)
		}
	case p.vectors != nil:
		// The inverse of the low-rank covariance is S⁻¹(I + Uᵀ(1/Λ - I)U)S⁻¹.
		for i, v := range p.diagonal {
			f[i] = -y[i] * math.Sqrt(v)
		}
		for k, u := range p.vectors {
			floats.AddScaled(f, p.values[k]*floats.Dot(u, f), u)
		}
		for i, v := range p.diagonal {
			f[i] *= math.Sqrt(v)
		}
	default:
		for i, v := range p.diagonal {
			f[i] = -v * y[i]
		}
	}
	return p.log + 0.5*floats.Dot(f, y)
}

// Log returns the log density at x.
func (m *Mixture) Log(x []float64) float64 {
	for k := range m.parts {
		m.logs[k] = m.parts[k].at(x, m.y)
	}
	return logSum(m.logs)
}

// LogGrad is Log that also writes the gradient.
func (m *Mixture) LogGrad(x, grad []float64) float64 {
	total := m.Log(x)
	for i := range grad {
		grad[i] = 0
	}
	for k := range m.parts {
		if share := math.Exp(m.logs[k] - total); share > 0 {
			floats.AddScaled(grad, share, m.parts[k].force)
		}
	}
	return total
}

// Responsibilities writes the probability of each component, given x, to shares, and returns the
// log density.
func (m *Mixture) Responsibilities(x, shares []float64) float64 {
	total := m.Log(x)
	for k, v := range m.logs {
		shares[k] = math.Exp(v - total)
	}
	return total
}

// nearest returns the component from which x most likely comes, and the squared distance of x from
// its mean in units of its standard deviations.
func (m *Mixture) nearest(x []float64) (component int, square float64) {
	m.Log(x)
	component = floats.MaxIdx(m.logs)
	return component, 2 * (m.parts[component].log - m.logs[component])
}

// Sample writes an exact draw to x.
func (m *Mixture) Sample(rng *rand.Rand, x []float64) {
	u, k := rng.Float64(), 0
	for ; k < len(m.parts)-1 && u >= m.parts[k].Weight; k++ {
		u -= m.parts[k].Weight
	}
	for i := range m.x {
		m.x[i] = rng.NormFloat64()
	}
	m.parts[k].to.Forward(m.x, x)
}

// sampleHot draws from a component, chosen uniformly, whose standard deviations are multiplied by
// factor.
func (m *Mixture) sampleHot(rng *rand.Rand, factor float64, x []float64) {
	k := rng.IntN(len(m.parts))
	for i := range m.x {
		m.x[i] = factor * rng.NormFloat64()
	}
	m.parts[k].to.Forward(m.x, x)
}

// logSum returns the logarithm of the sum of the exponentials.
func logSum(logs []float64) float64 {
	if len(logs) == 1 {
		return logs[0]
	}
	most := math.Inf(-1)
	for _, v := range logs {
		most = max(most, v)
	}
	if math.IsInf(most, 0) {
		return most
	}
	sum := 0.0
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}
