package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pattern has the positions of a lower triangle.
type pattern struct {
	d             int
	rows, columns []int32
}

// patternOf returns the pattern with these pairs and the diagonal.
func patternOf(d int, pairs map[[2]int]bool) pattern {
	p := pattern{d: d}
	for i := range d {
		for j := range i + 1 {
			if i == j || pairs[[2]int{i, j}] {
				p.rows, p.columns = append(p.rows, int32(i)), append(p.columns, int32(j))
			}
		}
	}
	return p
}

func grid(m int) pattern {
	p := pattern{d: m * m}
	for v := range m * m {
		for _, w := range []int{v - m, v - 1, v} {
			if w >= 0 && (w != v-1 || v%m > 0) {
				p.rows, p.columns = append(p.rows, int32(v)), append(p.columns, int32(w))
			}
		}
	}
	return p
}

// randomPatterns returns patterns of 0 to 40 variables: random ones of several densities, trees,
// and those with a variable that has all others as neighbours.
func randomPatterns(rng *rand.Rand) (all, trees []pattern) {
	for d := range 41 {
		tree := map[[2]int]bool{}
		for i := 1; i < d; i++ {
			tree[[2]int{i, rng.IntN(i)}] = true
		}
		trees = append(trees, patternOf(d, tree))
		for _, density := range []float64{0.02, 0.1, 0.3, 0.8, 1} {
			pairs := map[[2]int]bool{}
			hub := rng.IntN(d + 1)
			for i := range d {
				for j := range i {
					pairs[[2]int{i, j}] = rng.Float64() < density || density < 0.3 && (i == hub || j == hub)
				}
			}
			all = append(all, patternOf(d, pairs))
		}
	}
	return append(all, trees...), trees
}

// TestFactor compares factors and their products with the matrix.
func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	patterns, _ := randomPatterns(rng)
	for _, p := range append(patterns, grid(12)) {
		f := NewFactor(p.d, p.rows, p.columns)
		order := slices.Clone(f.Order)
		slices.Sort(order)
		for i, v := range order {
			if int(v) != i {
				t.Fatalf("%d variables: the order %v is no permutation", p.d, f.Order)
			}
		}
		matrix := make([]float64, p.d*p.d)
		l := make([]float64, f.Len())
		for k, r := range p.rows {
			v := rng.Float64() - 0.5
			if r == p.columns[k] {
				v += float64(p.d)
			}
			l[f.At[k]] = v
			i, j := int(f.Place[r]), int(f.Place[p.columns[k]])
			matrix[i*p.d+j], matrix[j*p.d+i] = v, v
		}
		if _, failed, _ := f.Cholesky(l, make([]float64, p.d)); failed >= 0 {
			t.Fatalf("%d variables: no factor", p.d)
		}
		for j := range p.d {
			for k := f.Start[j]; k < f.Start[j+1]; k++ {
				for n := f.Start[j]; n < f.Start[j+1]; n++ {
					matrix[int(f.Rows[k])*p.d+int(f.Rows[n])] -= l[k] * l[n]
				}
			}
		}
		for _, v := range matrix {
			if math.Abs(v) > 1e-12*float64(p.d) {
				t.Fatalf("%d variables: the product of the factors differs by %v", p.d, v)
			}
		}
	}
}

// TestFill checks that trees have factors without fill, and grids about as much as the best known
// orders: a grid of m×m has 31/4·m²·log₂ m values by nested dissection, in the limit.
func TestFill(t *testing.T) {
	_, trees := randomPatterns(rand.New(rand.NewPCG(3, 4)))
	star := map[[2]int]bool{}
	for i := range 2000 {
		star[[2]int{i, 0}] = i > 0
	}
	for _, p := range append(trees, patternOf(2000, star)) {
		if f := NewFactor(p.d, p.rows, p.columns); f.Len() != len(p.rows) {
			t.Errorf("a tree of %d variables has a factor with %d values", p.d, f.Len())
		}
	}
	for _, m := range []int{50, 100, 200} {
		p := grid(m)
		if f, best := NewFactor(p.d, p.rows, p.columns), 7.75*float64(m*m)*math.Log2(float64(m)); float64(f.Len()) > best/2 {
			t.Errorf("a grid of %d×%d has a factor with %d values; in the limit the best order has %.0f", m, m, f.Len(), best)
		}
	}
}
