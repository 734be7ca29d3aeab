package whiten

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// dims returns dimensions for which every loop has zero, one and two iterations, with every
// remainder, and dimensions close to the one at which a library is called instead.
func dims() (all []int) {
	for d := range 18 {
		all = append(all, d)
	}
	return append(all, fewRows-1, fewRows, fewRows+1)
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
			t.Errorf("%s: element %d of %d is %v, not %v", what, i, len(want), got[i], want[i])
		}
	}
}

// TestTriangle compares products with a packed triangle with products of its elements.
func TestTriangle(t *testing.T) {
	rng := infer.Stream(1, 0, "triangle", 0)
	for _, d := range dims() {
		if d > fewRows {
			continue
		}
		l := normals(rng, d*d)
		at := func(i, j int) float64 {
			if j > i {
				t.Fatalf("element %d, %d of %d rows is above the diagonal", i, j, d)
			}
			return l[i*d+j]
		}
		packed := newTriangle(d, make([]float64, d*(d+1)), at)
		if n := d * (d + 1) / 2; len(packed.rows) != n || len(packed.columns) != n {
			t.Errorf("%d rows are packed to %d and %d numbers", d, len(packed.rows), len(packed.columns))
		}
		mean, v, got, want := normals(rng, d), normals(rng, d), normals(rng, d), make([]float64, d)
		for i := range d {
			want[i] = mean[i]
			for j := range i + 1 {
				want[i] += at(i, j) * v[j]
			}
		}
		packed.multiply(mean, v, got)
		compare(t, "Lv", got, want)
		for j := range d {
			want[j] = 0
			for i := j; i < d; i++ {
				want[j] += at(i, j) * v[i]
			}
		}
		packed.transposed(v, got)
		compare(t, "Lᵀv", got, want)
	}
}

// TestMapOfAllSizes checks that a map of each kind agrees with its factor L, which is determined
// from unit vectors: forward, for scores, and for the inverse. L must be a factor of the inverse
// metric.
func TestMapOfAllSizes(t *testing.T) {
	rng := infer.Stream(1, 0, "map", 0)
	for _, d := range dims() {
		for _, m := range metricsOf(rng, d) {
			h, err := NewMap(m)
			if err != nil {
				t.Fatal(err)
			}
			if d == 0 {
				h.Whiten(nil, nil, nil, nil)
				h.Forward(nil, nil)
				h.Pull(nil, nil)
				continue
			}
			factor, unit := make([][]float64, d), make([]float64, d) // its columns
			for j := range factor {
				clear(unit)
				unit[j] = 1
				factor[j] = make([]float64, d)
				h.Forward(unit, factor[j])
				for i := range factor[j] {
					factor[j][i] -= m.Mean[i]
				}
			}
			for i := range d {
				want, got := make([]float64, d), make([]float64, d)
				for j := range d {
					want[j] = inverseOf(m, i, j)
					for k := range d {
						got[j] += factor[k][i] * factor[k][j]
					}
				}
				compare(t, string(m.Kind)+", LLᵀ", got, want)
			}
			y, g := normals(rng, d), normals(rng, d)
			x, want := make([]float64, d), make([]float64, d)
			h.Forward(y, x)
			for i := range d {
				want[i] = m.Mean[i]
				for j := range d {
					want[i] += factor[j][i] * y[j]
				}
			}
			compare(t, string(m.Kind)+", forward", x, want)
			back, w := make([]float64, d), make([]float64, d)
			h.Whiten(x, g, back, w)
			compare(t, string(m.Kind)+", back", back, y)
			for j := range d {
				want[j] = 0
				for i := range d {
					want[j] += factor[j][i] * g[i]
				}
			}
			compare(t, string(m.Kind)+", score", w, want)
		}
	}
}

// metricsOf returns metrics of every kind; those of low rank have zero to three vectors.
func metricsOf(rng *rand.Rand, d int) (all []infer.Metric) {
	mean := normals(rng, d)
	positive := func(n int) []float64 {
		x := normals(rng, n)
		for i := range x {
			x[i] = math.Exp(0.3 * x[i])
		}
		return x
	}
	all = append(all, infer.Metric{Kind: infer.Unit, Dim: d, Mean: mean}, infer.Metric{Kind: infer.Diagonal, Dim: d, Inverse: positive(d), Mean: mean})
	dense := infer.Metric{Kind: infer.Dense, Dim: d, Inverse: make([]float64, d*d), Mean: mean}
	for i := range d {
		for j := range d {
			dense.Inverse[i*d+j] = math.Pow(-0.6, math.Abs(float64(i-j))) * math.Sqrt((1+float64(i%3))*(1+float64(j%3)))
		}
	}
	all = append(all, dense)
	for rank := range min(3, d) + 1 {
		m := infer.Metric{Kind: infer.LowRank, Dim: d, Inverse: append(positive(d), positive(rank)...), Mean: mean}
		var vectors [][]float64
		for len(vectors) < rank {
			u := normals(rng, d)
			for range 2 { // twice, because of rounding
				for _, b := range vectors {
					floats.AddScaled(u, -floats.Dot(u, b), b)
				}
			}
			floats.Scale(1/floats.Norm(u, 2), u)
			vectors = append(vectors, u)
			m.Inverse = append(m.Inverse, u...)
		}
		all = append(all, m)
	}
	return all
}

func inverseOf(m infer.Metric, i, j int) float64 {
	switch m.Kind {
	case infer.Dense:
		return m.Inverse[i*m.Dim+j]
	case infer.LowRank:
		scale, values, vectors := m.LowRank()
		sum := 0.0
		if i == j {
			sum = 1
		}
		for k, u := range vectors {
			sum += u[i] * (values[k] - 1) * u[j]
		}
		return scale[i] * sum * scale[j]
	}
	if i != j {
		return 0
	}
	if m.Kind == infer.Unit {
		return 1
	}
	return m.Inverse[i]
}
