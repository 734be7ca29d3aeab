package stdlibtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// draws per generator. The distance between the empirical and the true
// distribution function exceeds dkw(draws, p) with probability at most p
// (Dvoretzky, Kiefer, Wolfowitz, Massart); with p = 1e-6/50 and 200 000 draws
// the bound is 0.0068, so that a scale that is wrong by 3 % (a distance of
// 0.0073 for a normal distribution) is found. Streams are fixed.
const draws = 200_000

func dkw(n int, p float64) float64 { return math.Sqrt(math.Log(2/p) / (2 * float64(n))) }

// TestGenerators compares draws with the density, integrated numerically: that
// tests the generator, and that the density integrates to 1.
func TestGenerators(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		if !f.Random {
			return
		}
		rng := source(f, 20)
		suffix := "_lpdf"
		if f.Dist.Discrete {
			suffix = "_lpmf"
		}
		pdf := stdlib.Universe().Lookup(f.Dist.Name + suffix)[0].(*stdlib.Func)
		params := arguments(rng, f, forms(f)[0])
		for i := range params {
			if c := f.In[i]; c.Lo == 0 && math.IsInf(c.Hi, 1) && params[i].Type.Kind == types.Real {
				params[i].Data[0] += 1 // no density that is infinite somewhere
			}
			if params[i].Type.Kind == types.Int {
				params[i].Data[0] += 30
			}
			if f.Dist.Name == "poisson" {
				params[i].Data[0] *= 12 // the generator for large rates
			}
		}
		x := sample(t, f, params, draws, rng)
		slices.Sort(x)
		bound := dkw(draws, 1e-6/50)
		if f.Dist.Discrete {
			checkMass(t, pdf, params, x, bound)
		} else {
			checkDensity(t, pdf, params, x, bound)
		}
	})
}

// sample draws n numbers, as lanes.
func sample(t *testing.T, f *stdlib.Func, params []Value, n int, rng *rand.Rand) []float64 {
	g := ad.NewGraph()
	b := &stdlib.Builder{G: g, Name: f.Name, Lanes: n}
	args := make([]stdlib.Arg, len(params))
	for i, v := range params {
		args[i] = v.arg(g, g.ConstArray(v.adType(), v.Data))
	}
	out := f.Build(b, args)
	if g.Type(out).Lanes != n {
		t.Fatalf("%d lanes, want %d", g.Type(out).Lanes, n)
	}
	g.Output(out)
	x, err := g.Eval(nil, &ad.Env{Rand: rng})
	if err != nil {
		t.Fatal(err)
	}
	return x[0]
}

// density evaluates exp of the log density at every y.
func density(t *testing.T, pdf *stdlib.Func, params []Value, ys []float64) []float64 {
	kind := forms(pdf)[0][0]
	vs := append([]Value{{Type: kind, Lanes: len(ys), Data: ys}}, params...)
	v, err := Eval(pdf, false, vs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		v[i] = math.Exp(v[i])
	}
	return v
}

// checkMass compares distribution functions at every value.
func checkMass(t *testing.T, pmf *stdlib.Func, params []Value, x []float64, bound float64) {
	var ys []float64
	for y := x[0]; y <= x[len(x)-1]; y++ {
		ys = append(ys, y)
	}
	total, i, worst := 0.0, 0, 0.0
	for k, p := range density(t, pmf, params, ys) {
		total += p
		for i < len(x) && x[i] <= ys[k] {
			i++
		}
		worst = max(worst, math.Abs(total-float64(i)/float64(len(x))))
	}
	if worst > bound {
		t.Errorf("distance %v > %v from the mass function", worst, bound)
	}
}

// checkDensity compares distribution functions between the quantiles 0.001 and
// 0.999 of the sample, on a grid of its quantiles, the density integrated by
// Gauss's rule between them. The lower end is taken from the sample too: there,
// at a probability of 0.001, the sample is off by 5e-4 (ten standard errors) at
// most.
func checkDensity(t *testing.T, pdf *stdlib.Func, params []Value, x []float64, bound float64) {
	const cells = 200
	nodes := [...]float64{-0.906179845938664, -0.5384693101056831, 0, 0.5384693101056831, 0.906179845938664}
	weights := [...]float64{0.23692688505618908, 0.47862867049936647, 0.5688888888888889, 0.47862867049936647, 0.23692688505618908}
	grid := make([]float64, cells+1)
	at := func(k int) int { return int(float64(len(x)-1) * (0.001 + 0.998*float64(k)/cells)) }
	var ys []float64
	for k := range grid {
		grid[k] = x[at(k)]
		if k > 0 {
			for _, u := range nodes {
				ys = append(ys, 0.5*(grid[k]+grid[k-1])+0.5*u*(grid[k]-grid[k-1]))
			}
		}
	}
	p := density(t, pdf, params, ys)
	total, worst := 0.0, 0.0
	for k := 1; k < len(grid); k++ {
		for j, w := range weights {
			total += 0.5 * (grid[k] - grid[k-1]) * w * p[5*(k-1)+j]
		}
		worst = max(worst, math.Abs(total-float64(at(k)-at(0))/float64(len(x))))
	}
	if bound += 5e-4; worst > bound {
		t.Errorf("distance %v > %v from the density", worst, bound)
	}
}

// TestShapes: a generator of containers gives one draw per element, and draws in
// different lanes differ.
func TestShapes(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		if !f.Random || len(f.In) == 0 {
			return
		}
		rng := source(f, 21)
		for i, ts := range forms(f) {
			vs := arguments(rng, f, ts)
			x, err := eval(f, false, vs, knownInts, rng)
			if want := []int{1, vectorSize, vectorSize}[i]; err != nil || len(x) != want {
				t.Errorf("%v: %v (%v), want %d draws", ts, x, err, want)
			}
		}
	})
}

// TestCategoricalGenerators counts draws of each position.
func TestCategoricalGenerators(t *testing.T) {
	for _, name := range []string{"categorical_rng", "categorical_logit_rng"} {
		f := stdlib.Universe().Lookup(name)[0].(*stdlib.Func)
		rng := source(f, 22)
		v := Value{Type: tVec, Shape: []int{4}, Data: []float64{0.1, 0.2, 0.3, 0.4}}
		if name == "categorical_logit_rng" {
			for i, p := range v.Data {
				v.Data[i] = math.Log(p) + 3
			}
		}
		x := sample(t, f, []Value{v}, draws, rng)
		var count [5]float64
		for _, k := range x {
			count[int(k)]++
		}
		total, want := 0.0, 0.0
		for k := 1; k <= 4; k++ {
			total += count[k] / draws
			want += float64(k) / 10
			if math.Abs(total-want) > dkw(draws, 1e-6/50) {
				t.Errorf("%s: counts %v", name, count)
			}
		}
	}
}

func nth(name string, i int) *stdlib.Func { return stdlib.Universe().Lookup(name)[i].(*stdlib.Func) }

func find(name string) *stdlib.Func { return stdlib.Universe().Lookup(name)[0].(*stdlib.Func) }

// first is element 0 of every draw of size n.
func first(x []float64, n int) []float64 {
	y := make([]float64, len(x)/n)
	for i := range y {
		y[i] = x[i*n]
	}
	slices.Sort(y)
	return y
}

// TestVectorGenerators compares the first element of draws of vectors, and
// ordered outcomes, with the distributions that they must have.
func TestVectorGenerators(t *testing.T) {
	t.Parallel()
	const n = 100_000
	bound := dkw(n, 1e-6/50)
	vec := func(xs ...float64) Value { return Value{Type: tVec, Shape: []int{len(xs)}, Data: xs} }
	real := func(x float64) Value { return Scalar(tReal, x) }
	whole := func(x float64) Value { return Scalar(tInt, x) }
	draw := func(name string, k int, params ...Value) []float64 {
		f := find(name)
		return first(sample(t, f, params, n, source(f, 23)), k)
	}
	// counts
	checkMass(t, find("binomial_lpmf"), []Value{whole(50), real(0.2)},
		draw("multinomial_rng", 3, vec(0.2, 0.5, 0.3), whole(50)), bound)
	checkMass(t, find("binomial_lpmf"), []Value{whole(50), real(0.2)},
		draw("multinomial_logit_rng", 3, vec(math.Log(2), math.Log(5), math.Log(3)), whole(50)), bound)
	checkMass(t, find("beta_binomial_lpmf"), []Value{whole(20), real(1.5), real(2.5)},
		draw("dirichlet_multinomial_rng", 3, vec(1.5, 0.5, 2), whole(20)), bound)
	checkMass(t, find("hypergeometric_lpmf"), []Value{whole(10), whole(12), whole(15)},
		draw("hypergeometric_rng", 1, whole(10), whole(12), whole(15)), bound)
	cuts := vec(-1, 0.5, 2)
	checkMass(t, find("ordered_logistic_lpmf"), []Value{real(0.3), cuts}, draw("ordered_logistic_rng", 1, real(0.3), cuts), bound)
	checkMass(t, find("ordered_probit_lpmf"), []Value{real(0.3), cuts}, draw("ordered_probit_rng", 1, real(0.3), cuts), bound)
	// The marginal of a Dirichlet distribution is a beta distribution.
	x := draw("dirichlet_rng", 3, vec(0.3, 2, 1))
	cdf := density(t, find("beta_lcdf"), []Value{real(0.3), real(3)}, x)
	worst := 0.0
	for i, p := range cdf {
		worst = max(worst, math.Abs(p-float64(i)/n))
	}
	if worst > bound {
		t.Errorf("dirichlet_rng: distance %v > %v", worst, bound)
	}
	// Log odds of two predictors, one draw each.
	x = draw("bernoulli_logit_glm_rng", 2, Value{Type: tMat, Shape: []int{2, 2}, Data: []float64{1, 2, 3, 4}}, vec(0, 1), vec(0.5, -0.25))
	checkMass(t, find("bernoulli_logit_lpmf"), []Value{real(0)}, x, bound)
}
