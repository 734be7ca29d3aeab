package stdlibtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// draws is the number of draws per generator of vectors and matrices. The distance between the
// empirical and the true distribution function exceeds dkw(draws, p) with probability at most p
// (Dvoretzky, Kiefer, Wolfowitz, Massart). With p = 1e-6/50 and 200 000 draws the bound is 0.0068.
// A scale that is wrong by 3 % gives a distance of 0.0073 for a normal distribution, so it is
// found. Random seeds are fixed.
const draws = 200_000

func dkw(n int, p float64) float64 { return math.Sqrt(math.Log(2/p) / (2 * float64(n))) }

// The statistics of draws from the univariate distributions are Neyman's: means of orthogonal
// polynomials of the distribution function, up to this order. By Bernstein's inequality each
// exceeds its bound with probability at most alarm, so the whole suite has a false alarm with
// probability 10⁻⁶. The number of draws suffices to find an error of 1 %.
const (
	order = 4
	alarm = 1e-6 / 250
)

// TestGenerators compares draws with the distribution function or, if Stan has none, with sums of
// the mass.
func TestGenerators(t *testing.T) {
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		// With -short, a quarter of them.
		if !f.Random || testing.Short() && len(f.Dist.Name)%4 != 0 {
			return
		}
		rng := source(f, 20)
		var params []float64
		for i, v := range arguments(rng, f, forms(f)[0]) {
			p := v.Data[0]
			if c := f.In[i]; c.Lo == 0 && math.IsInf(c.Hi, 1) && v.Type.Kind == types.Real {
				p += 1 // at least 1, so that no density is infinite
			}
			if v.Type.Kind == types.Int {
				p += 30
			}
			if f.Dist.Name == "poisson" {
				p *= 12 // large, so that the algorithm for large rates is tested
			}
			params = append(params, p)
		}
		c := cellsOf(t, f, params)
		n := 0.
		for what, p := range c.wrong(t) {
			const some = 1e5
			most := 0.
			for _, z := range c.statistics(p, some) {
				// With 2 added to the bound, an error is found with probability 0.97.
				most = max(most, math.Abs(z.value)/(z.bound+2))
			}
			if n = max(n, some/(most*most)); n > 3e6 {
				t.Fatalf("%s would not be found at %v", what, params)
			}
		}
		count := make([]float64, len(c.at)+1)
		for range int(n) {
			y := f.Dist.Rand(rng, params)
			if f.Dist.Name == "von_mises" { // its distribution function is for angles from -π
				y -= 2 * math.Pi * math.Floor((y+math.Pi)/(2*math.Pi))
			}
			count[sort.SearchFloat64s(c.at, y)]++
		}
		for k := range count {
			count[k] /= math.Floor(n)
		}
		for j, z := range c.statistics(count, math.Floor(n)) {
			if !(math.Abs(z.value) <= z.bound) {
				t.Errorf("statistic %d of the draws at %v is %.1f, the bound %.1f", j+1, params, z.value, z.bound)
			}
		}
	})
}

// cells are a partition of the line. The ends in `at` belong to the cell below them; each has its
// cumulative probability.
type cells struct {
	f        *stdlib.Func
	params   []float64
	at, upTo []float64
}

// cellsOf divides the line at quantiles, and so tests these, too.
func cellsOf(t *testing.T, f *stdlib.Func, params []float64) cells {
	t.Helper()
	c := cells{f: f, params: params}
	const n = 256
	d := f.Dist
	if d.LogCDF == nil { // Stan has no distribution function
		total := 0.
		for y := 0.; total < 1-1e-12 && y < 10_000; y++ {
			total += density(t, find(d.Name+"_lpmf"), values(f, params, 0), []float64{y})[0]
			c.at, c.upTo = append(c.at, y), append(c.upTo, total)
		}
		return c
	}
	q := make([]float64, n-1)
	for k := range q {
		q[k] = float64(k+1) / n
	}
	at, err := d.Quantiles(q, params)
	if err != nil {
		t.Fatal(err)
	}
	upTo := c.below(t, at)
	for k := range at {
		if k == 0 || at[k] > at[k-1] {
			c.at, c.upTo = append(c.at, at[k]), append(c.upTo, upTo[k])
		}
	}
	return c
}

// TestQuantiles checks that the distribution function at a quantile is its probability, also in the
// tails. For counts, that probability must be reached there and not before. Between quantiles, the
// test integrates the density by Gauss's rule.
func TestQuantiles(t *testing.T) {
	probs := []float64{1e-12, 1e-5}
	for q := 0.01; q < 0.995; q += 0.02 {
		probs = append(probs, q)
	}
	probs = append(probs, 1-1e-5, 1-1e-12)
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		name, ok := strings.CutSuffix(f.Name, "_lcdf")
		if !ok {
			return
		}
		probs := probs
		rng := source(f, 26)
		var params []float64
		for _, v := range arguments(rng, f, forms(f)[0])[1:] {
			params = append(params, v.Data[0])
		}
		// Far quantiles need sums over too many counts.
		if name == "beta_neg_binomial" || name == "yule_simon" {
			probs = probs[:len(probs)-2]
		}
		ys, err := f.Dist.Quantiles(probs, params)
		if err != nil {
			t.Fatal(err)
		}
		c := cells{f: f, params: params}
		upper := find(name + "_lccdf")
		for i, q := range probs {
			y := []Value{{Type: forms(f)[0][0], Data: []float64{ys[i]}}}
			if f.Dist.Discrete {
				p := c.below(t, []float64{ys[i], ys[i] - 1})
				if !(p[0] >= q*(1-1e-12) && p[1] < q*(1+1e-12)) {
					t.Errorf("quantile %g at %v is %g, where the distribution function is %g, and %g below", q, params, ys[i], p[0], p[1])
				}
				continue
			}
			tail, p := f, q
			if q > 0.5 {
				tail, p = upper, 1-q
			}
			v, err := Eval(tail, false, append(y, values(f, params, 1)...))
			// Rounding of y changes the probability by the density times the error; 1 - q is
			// rounded too.
			if !(err == nil && math.Abs(math.Exp(v[0])-p) <= p*1e-11+1e-16+slope(t, f, params, ys[i])*math.Abs(ys[i])*4e-16) {
				t.Errorf("quantile %g at %v is %g, where the tail is %g, not %g (%v)", q, params, ys[i], math.Exp(v[0]), p, err)
			}
		}
		// These are not smooth everywhere.
		if f.Dist.Discrete || name == "double_exponential" || name == "skew_double_exponential" {
			return
		}
		inner := ys[2 : len(ys)-2]
		upTo := c.below(t, inner)
		for k := 1; k < len(inner); k++ {
			a, b := inner[k-1], inner[k]
			sum := 0.
			for i, u := range gaussNodes {
				if a*b > 0 { // integrate over log |y|, because the tails are long
					y := a * math.Pow(b/a, 0.5+0.5*u)
					sum += 0.5 * math.Log(b/a) * gaussWeights[i] * y * slope(t, f, params, y)
				} else {
					sum += 0.5 * (b - a) * gaussWeights[i] * slope(t, f, params, 0.5*(a+b)+0.5*u*(b-a))
				}
			}
			if want := upTo[k] - upTo[k-1]; !near(sum, want, 1e-9) {
				t.Errorf("from %g to %g at %v the density adds up to %.12g, the distribution function rises by %.12g", a, b, params, sum, want)
			}
		}
	})
}

// Gauss's rule with 7 points on [-1, 1]: nodes and weights.
var (
	gaussNodes   = []float64{-0.949107912342758525, -0.741531185599394440, -0.405845151377397167, 0, 0.405845151377397167, 0.741531185599394440, 0.949107912342758525}
	gaussWeights = []float64{0.129484966168869693, 0.279705391489276668, 0.381830050505118945, 0.417959183673469388, 0.381830050505118945, 0.279705391489276668, 0.129484966168869693}
)

// slope returns the density.
func slope(t *testing.T, f *stdlib.Func, params []float64, y float64) float64 {
	t.Helper()
	return density(t, find(f.Dist.Name+"_lpdf"), values(f, params, 1), []float64{y})[0]
}

// values returns the arguments of f from index skip on.
func values(f *stdlib.Func, params []float64, skip int) []Value {
	var vs []Value
	for i, p := range params {
		vs = append(vs, Value{Type: forms(f)[0][i+skip], Data: []float64{p}})
	}
	return vs
}

// values returns the parameters.
func (c cells) values() []Value {
	skip := 1
	if c.f.Random {
		skip = 0
	}
	return values(c.f, c.params, skip)
}

// below returns the distribution function.
func (c cells) below(t *testing.T, ys []float64) []float64 {
	t.Helper()
	f := find(c.f.Dist.Name + "_lcdf")
	out := make([]float64, len(ys))
	for i, y := range ys {
		v, err := Eval(f, false, append([]Value{{Type: forms(f)[0][0], Data: []float64{y}}}, c.values()...))
		switch {
		case err == nil:
			out[i] = math.Exp(v[0])
		case len(c.at) > 0 && y < c.at[0]: // y is below the support
		case len(c.at) > 0 && y > c.at[len(c.at)-1]:
			out[i] = 1
		default:
			t.Fatal(err)
		}
	}
	return out
}

type statistic struct{ value, bound float64 }

// statistics returns the test statistics, given the shares of n draws in the cells.
func (c cells) statistics(share []float64, n float64) []statistic {
	root := math.Sqrt(n)
	var out []statistic
	for j := 1; j <= order; j++ {
		var v []float64 // the polynomial's values in the middle of each cell
		mean, square, most := 0., 0., 0.
		for k := range share {
			lo, hi := 0., 1.
			if k > 0 {
				lo = c.upTo[k-1]
			}
			if k < len(c.upTo) {
				hi = c.upTo[k]
			}
			v = append(v, legendre(j, lo+hi-1))
			mean += (hi - lo) * v[k]
			square += (hi - lo) * v[k] * v[k]
		}
		deviation := math.Sqrt(square - mean*mean)
		if !(deviation > 1e-6) {
			continue // the polynomial is the same in all cells
		}
		z := 0.
		for k, s := range share {
			most = max(most, math.Abs(v[k]-mean))
			z += s * (v[k] - mean)
		}
		l := math.Log(2 / alarm)
		// By Bernstein's inequality, the bound t of the statistic solves t² = 2 l (1 + a t).
		a := most / (3 * deviation * root)
		out = append(out, statistic{z / deviation * root, l*a + math.Sqrt(l*l*a*a+2*l)})
	}
	return out
}

// legendre returns the Legendre polynomial of a degree at x in [-1, 1].
func legendre(degree int, x float64) float64 {
	p, q := 1., x
	for k := 1; k < degree; k++ {
		p, q = q, (float64(2*k+1)*x*q-float64(k)*p)/float64(k+1)
	}
	return q
}

// wrong returns the shares of the cells for generators with an error of 1 %: in the scale, about
// the median; and in the location, of half the distance between the 16 and 84 % quantiles. Counts
// are increased by one with the probability that shifts the mean by 1 % of the standard deviation.
func (c cells) wrong(t *testing.T) map[string][]float64 {
	t.Helper()
	shares := func(upTo []float64) []float64 {
		out := make([]float64, len(upTo)+1)
		last := 0.
		for k, p := range append(slices.Clone(upTo), 1) {
			out[k], last = p-last, p
		}
		return out
	}
	if c.f.Dist.Discrete {
		mean, square, last := 0., 0., 0.
		moved := make([]float64, len(c.at))
		for k, y := range c.at {
			p := c.upTo[k] - last
			last = c.upTo[k]
			mean += p * y
			square += p * y * y
		}
		deviation := math.Sqrt(square - mean*mean)
		for k, y := range c.at {
			mass := density(t, find(c.f.Dist.Name+"_lpmf"), c.values(), []float64{y})[0]
			moved[k] = c.upTo[k] - 0.01*deviation*mass
		}
		return map[string][]float64{"a mean that is off by 1 % of the deviation": shares(moved)}
	}
	at := func(q float64) float64 { return c.at[sort.SearchFloat64s(c.upTo, q)] }
	median, half := at(0.5), 0.5*(at(0.84)-at(0.16))
	var wide, right []float64
	for _, y := range c.at {
		wide, right = append(wide, median+(y-median)/1.01), append(right, y-0.01*half)
	}
	return map[string][]float64{"a scale that is off by 1 %": shares(c.below(t, wide)), "a location that is off by 1 % of the scale": shares(c.below(t, right))}
}

// sample draws n numbers, in lanes.
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

// density returns exp of the log density at every y.
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

// checkMass compares the distribution functions with sums of the mass at every value.
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

// checkDensity compares distribution functions between the quantiles 0.001 and 0.999 of the sample.
// It integrates the density by Gauss's rule between further quantiles. It takes the probability
// below the lower end, 0.001, from the sample, which is off by at most 5e-4 (ten standard errors).
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

// TestShapes checks that a generator with containers returns one draw per element, and that draws
// in different lanes differ.
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

// TestCategoricalGenerators counts the draws of each position.
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

// first returns element 0 of every draw of size n.
func first(x []float64, n int) []float64 {
	y := make([]float64, len(x)/n)
	for i := range y {
		y[i] = x[i*n]
	}
	slices.Sort(y)
	return y
}

// TestVectorGenerators compares the first element of random vectors, and ordered outcomes, with
// their known distributions.
func TestVectorGenerators(t *testing.T) {
	t.Parallel()
	n := short.Of(100_000, 20_000)
	bound := dkw(n, 1e-6/50)
	vec := func(xs ...float64) Value { return Value{Type: tVec, Shape: []int{len(xs)}, Data: xs} }
	real := func(x float64) Value { return Scalar(tReal, x) }
	whole := func(x float64) Value { return Scalar(tInt, x) }
	draw := func(name string, k int, params ...Value) []float64 {
		f := find(name)
		return first(sample(t, f, params, n, source(f, 23)), k)
	}
	// These are counts.
	checkMass(t, find("binomial_lpmf"), []Value{whole(50), real(0.2)},
		draw("multinomial_rng", 3, vec(0.2, 0.5, 0.3), whole(50)), bound)
	checkMass(t, find("binomial_lpmf"), []Value{whole(50), real(0.2)},
		draw("multinomial_logit_rng", 3, vec(math.Log(2), math.Log(5), math.Log(3)), whole(50)), bound)
	checkMass(t, find("beta_binomial_lpmf"), []Value{whole(20), real(1.5), real(2.5)},
		draw("dirichlet_multinomial_rng", 3, vec(1.5, 0.5, 2), whole(20)), bound)
	checkMass(t, find("hypergeometric_lpmf"), []Value{whole(10), whole(12), whole(15)},
		draw("hypergeometric_rng", 1, whole(10), whole(12), whole(15)), bound)
	chances := vec(0.1, 0, 0.5, 0.9, 1, 0.3)
	checkMass(t, find("poisson_binomial_lpmf"), []Value{chances}, draw("poisson_binomial_rng", 1, chances), bound)
	cuts := vec(-1, 0.5, 2)
	checkMass(t, find("ordered_logistic_lpmf"), []Value{real(0.3), cuts}, draw("ordered_logistic_rng", 1, real(0.3), cuts), bound)
	checkMass(t, find("ordered_probit_lpmf"), []Value{real(0.3), cuts}, draw("ordered_probit_rng", 1, real(0.3), cuts), bound)
	// The marginals of a Dirichlet distribution are beta distributions.
	x := draw("dirichlet_rng", 3, vec(0.3, 2, 1))
	cdf := density(t, find("beta_lcdf"), []Value{real(0.3), real(3)}, x)
	worst := 0.0
	for i, p := range cdf {
		worst = max(worst, math.Abs(p-float64(i)/float64(n)))
	}
	if worst > bound {
		t.Errorf("dirichlet_rng: distance %v > %v", worst, bound)
	}
	// Draw once for each of two linear predictors.
	x = draw("bernoulli_logit_glm_rng", 2, Value{Type: tMat, Shape: []int{2, 2}, Data: []float64{1, 2, 3, 4}}, vec(0, 1), vec(0.5, -0.25))
	checkMass(t, find("bernoulli_logit_lpmf"), []Value{real(0)}, x, bound)
}
