package projection

import (
	"cmp"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// factor has the columns whose effects vary by the same groups.
type factor struct {
	groups     []int
	levels     int
	columns    [][]float64 // divided by their root mean squares
	covariance Covariance
	set        int
}

// parameters is the number of parameters of the covariance.
func (f *factor) parameters() int {
	k := len(f.columns)
	switch f.covariance {
	case Diagonal:
		return k
	case Scalar:
		return 1
	}
	return k * (k + 1) / 2
}

// triangle writes the lower triangular factor of the relative covariance, by rows.
func (f *factor) triangle(theta, dst []float64) {
	k := len(f.columns)
	clear(dst[:k*k])
	at := 0
	for i := range k {
		switch f.covariance {
		case Full:
			for j := range i + 1 {
				dst[i*k+j] = theta[at]
				at++
			}
			dst[i*k+i] = math.Abs(dst[i*k+i])
		case Diagonal:
			dst[i*k+i] = math.Abs(theta[i])
		case Scalar:
			dst[i*k+i] = math.Abs(theta[0])
		}
		dst[i*k+i] = min(dst[i*k+i], maxRatio)
	}
}

// start returns parameters of the covariance: a multiple of the identity.
func (f *factor) start(scale float64) (theta []float64) {
	theta = make([]float64, f.parameters())
	at := 0
	for i := range len(f.columns) {
		if f.covariance == Full {
			at += i
			theta[at] = scale
			at++
		} else if i < len(theta) {
			theta[i] = scale
		}
	}
	return theta
}

// maxRatio is the largest ratio of the standard deviation of a group effect to that of the
// residuals. The expected outcomes of a draw have no noise, so that the ratio has no other bound if
// the submodel can have the reference's values.
const maxRatio = 1e3

// design is a submodel: population columns, and factors of group effects. The first factor has the
// most groups.
type design struct {
	rows    int
	terms   []int
	columns [][]float64 // population columns, standardised; the first is the intercept
	shift   []float64   // means of the columns
	scale   []float64   // standard deviations of the columns
	factors []*factor

	k     int   // columns of the first factor; 0 without factors
	rest  int   // other unknowns: effects of the other factors, then coefficients
	first []int // index in rest of each other factor's effects, then of the coefficients

	entries int       // non-zero entries of a row among rest
	index   []int     // by row: their columns
	value   []float64 // by row: their values
}

// designOf returns the matrices of a submodel.
func (p *Problem) designOf(terms []int) *design {
	n := p.rows()
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	d := &design{rows: n, terms: slices.Clone(terms), columns: [][]float64{one}, shift: []float64{0}, scale: []float64{1}}
	// The order of the columns must not depend on the order in which terms were chosen, so that a
	// set of terms has one result.
	sorted := slices.Clone(terms)
	slices.Sort(sorted)
	for _, t := range sorted {
		term := &p.Terms[t]
		if term.Groups == nil {
			for _, c := range term.Columns {
				m, s := meanSD(c)
				d.shift, d.scale = append(d.shift, m), append(d.scale, s)
				out := make([]float64, n)
				for i, x := range c {
					out[i] = (x - m) / s
				}
				d.columns = append(d.columns, out)
			}
			continue
		}
		i := slices.IndexFunc(d.factors, func(f *factor) bool { return f.set == term.Set && f.covariance == term.Covariance })
		if i < 0 {
			i = len(d.factors)
			d.factors = append(d.factors, &factor{groups: term.Groups, levels: term.Levels, covariance: term.Covariance, set: term.Set})
		}
		for _, c := range term.Columns {
			out := make([]float64, n)
			size := 1.0
			if term.Covariance != Scalar {
				size = rootMeanSquare(c)
			}
			for i, x := range c {
				out[i] = x / size
			}
			d.factors[i].columns = append(d.factors[i].columns, out)
		}
	}
	sorting.Stable(d.factors, func(a, b *factor) int { return cmp.Compare(b.levels, a.levels) })
	d.layOut()
	return d
}

// layOut places the unknowns that are not eliminated, and lists the entries of each row.
func (d *design) layOut() {
	if len(d.factors) > 0 {
		d.k = len(d.factors[0].columns)
		for _, f := range d.factors[1:] {
			d.first = append(d.first, d.rest)
			d.rest += f.levels * len(f.columns)
			d.entries += len(f.columns)
		}
	}
	d.first = append(d.first, d.rest)
	d.rest += len(d.columns)
	d.entries += len(d.columns)
	d.index = make([]int, 0, d.rows*d.entries)
	d.value = make([]float64, 0, d.rows*d.entries)
	for i := range d.rows {
		if len(d.factors) > 0 {
			for f, fac := range d.factors[1:] {
				k := len(fac.columns)
				for c, col := range fac.columns {
					d.index = append(d.index, d.first[f]+fac.groups[i]*k+c)
					d.value = append(d.value, col[i])
				}
			}
		}
		at := d.first[len(d.first)-1]
		for c, col := range d.columns {
			d.index = append(d.index, at+c)
			d.value = append(d.value, col[i])
		}
	}
}

// parameters is the number of parameters of all covariances.
func (d *design) parameters() (n int) {
	for _, f := range d.factors {
		n += f.parameters()
	}
	return n
}

// start returns parameters of all covariances.
func (d *design) start(scale float64) (theta []float64) {
	for _, f := range d.factors {
		theta = append(theta, f.start(scale)...)
	}
	return theta
}

// coefficients returns the intercept and the coefficients of the columns as given, by term in
// increasing order.
func (d *design) coefficients(standardised []float64) []float64 {
	out := slices.Clone(standardised)
	for c := 1; c < len(out); c++ {
		out[c] /= d.scale[c]
		out[0] -= out[c] * d.shift[c]
	}
	return out
}

// meanSD returns the mean and the standard deviation of a column; 1 if it is constant.
func meanSD(x []float64) (mean, sd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / n
	}
	if sd = math.Sqrt(sd); sd == 0 {
		sd = 1
	}
	return mean, sd
}

// rootMeanSquare returns the root mean square of a column; 1 if it is zero.
func rootMeanSquare(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v / float64(len(x))
	}
	if s == 0 {
		return 1
	}
	return math.Sqrt(s)
}
