package stdlibtest

import (
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestMatrixGenerators compares a linear form of random vectors, or a quadratic form of random
// matrices, with its known distribution.
func TestMatrixGenerators(t *testing.T) {
	t.Parallel()
	n := short.Of(30_000, 6_000)
	bound := dkw(n, 1e-6/50)
	c := []float64{0.5, -1, 2}
	mu := []float64{1, 2, -0.5}
	sigma := []float64{2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5}
	lower := choleskyOf(sigma, 3)
	vec := func(xs []float64) Value { return Value{Type: tVec, Shape: []int{len(xs)}, Data: xs} }
	mat := func(xs []float64) Value { return Value{Type: tMat, Shape: []int{3, 3}, Data: xs} }
	real := func(x float64) Value { return Scalar(tReal, x) }
	form := func(m []float64) (s float64) {
		for i := range 3 {
			for j := range 3 {
				s += c[i] * m[3*i+j] * c[j]
			}
		}
		return s
	}
	// compare applies f to every draw of size numbers, and compares the results with a
	// distribution.
	compare := func(name string, size int, params []Value, f func(x []float64) float64, pdf string, of ...float64) {
		t.Helper()
		fn := find(name)
		x := sample(t, fn, params, n, source(fn, 24))
		y := make([]float64, n)
		for i := range y {
			y[i] = f(x[i*size : (i+1)*size])
		}
		slices.Sort(y)
		var ps []Value
		for _, p := range of {
			ps = append(ps, real(p))
		}
		checkDensity(t, find(pdf), ps, y, bound)
	}
	along := func(x []float64) float64 { return c[0]*x[0] + c[1]*x[1] + c[2]*x[2] }
	product := func(f func(m []float64) float64) func(l []float64) float64 {
		return func(l []float64) float64 { return f(squareOf(l, 3)) }
	}
	mean, sd, nu := along(mu), math.Sqrt(form(sigma)), 5.5
	compare("multi_normal_rng", 3, []Value{vec(mu), mat(sigma)}, along, "normal_lpdf", mean, sd)
	compare("multi_normal_cholesky_rng", 3, []Value{vec(mu), mat(lower)}, along, "normal_lpdf", mean, sd)
	compare("multi_student_t_rng", 3, []Value{real(nu), vec(mu), mat(sigma)}, along, "student_t_lpdf", nu, mean, sd)
	compare("multi_student_t_cholesky_rng", 3, []Value{real(nu), vec(mu), mat(lower)}, along, "student_t_lpdf", nu, mean, sd)
	// For a Wishart matrix W, cᵀWc/cᵀSc is χ²; for an inverse Wishart matrix, cᵀWc is inverse
	// gamma.
	ratio := func(w []float64) float64 { return form(w) / form(sigma) }
	compare("wishart_rng", 9, []Value{real(nu), mat(sigma)}, ratio, "chi_square_lpdf", nu)
	compare("wishart_cholesky_rng", 9, []Value{real(nu), mat(lower)}, product(ratio), "chi_square_lpdf", nu)
	compare("inv_wishart_rng", 9, []Value{real(nu), mat(sigma)}, form, "inv_gamma_lpdf", (nu-2)/2, form(sigma)/2)
	compare("inv_wishart_cholesky_rng", 9, []Value{real(nu), mat(lower)}, product(form), "inv_gamma_lpdf", (nu-2)/2, form(sigma)/2)
	// For a correlation r in the LKJ distribution, (r+1)/2 is a beta variate.
	eta := 1.3
	for _, at := range []int{1, 5} {
		unit := func(r []float64) float64 { return (r[at] + 1) / 2 }
		a := eta - 1 + 1.5
		compare("lkj_corr_rng", 9, []Value{Scalar(tInt, 3), real(eta)}, unit, "beta_lpdf", a, a)
		compare("lkj_corr_cholesky_rng", 9, []Value{Scalar(tInt, 3), real(eta)}, product(unit), "beta_lpdf", a, a)
	}
}

func choleskyOf(a []float64, n int) []float64 {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				l[i*n+i] = math.Sqrt(s)
			} else {
				l[i*n+j] = s / l[j*n+j]
			}
		}
	}
	return l
}

// squareOf returns L Lᵀ.
func squareOf(l []float64, n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				m[i*n+j] += l[i*n+k] * l[j*n+k]
			}
		}
	}
	return m
}

// chain is a hidden Markov chain of two states at three times.
var chain = struct{ omega, gamma, rho []float64 }{
	[]float64{-0.3, -2, -0.1, -1, -0.2, -3}, []float64{0.8, 0.2, 0.35, 0.65}, []float64{0.6, 0.4}}

func chainArgs() []Value {
	return []Value{{Type: tMat, Shape: []int{2, 3}, Data: chain.omega}, {Type: tMat, Shape: []int{2, 2}, Data: chain.gamma},
		{Type: tVec, Shape: []int{2}, Data: chain.rho}}
}

// paths returns the joint probabilities of all paths and the observations of chain. The state at
// time t is bit t.
func paths() [8]float64 {
	var p [8]float64
	for path := range p {
		state := func(t int) int { return path >> t & 1 }
		p[path] = chain.rho[state(0)]
		for t := range 3 {
			p[path] *= math.Exp(chain.omega[3*state(t)+t])
			if t > 0 {
				p[path] *= chain.gamma[2*state(t-1)+state(t)]
			}
		}
	}
	return p
}

// TestHiddenMarkov compares with sums over all paths.
func TestHiddenMarkov(t *testing.T) {
	joint := paths()
	total := 0.0
	var states [6]float64 // the state at each time
	for path, p := range joint {
		total += p
		for at := range 3 {
			states[3*(path>>at&1)+at] += p
		}
	}
	v, err := Eval(find("hmm_marginal"), false, chainArgs())
	if err != nil || !near(v[0], math.Log(total), 1e-14) {
		t.Errorf("marginal %v (%v), want %v", v, err, math.Log(total))
	}
	v, err = Eval(find("hmm_hidden_state_prob"), false, chainArgs())
	if err != nil {
		t.Fatal(err)
	}
	for i := range states {
		if !near(v[i], states[i]/total, 1e-14) {
			t.Errorf("probability %d of the states is %v, want %v", i, v[i], states[i]/total)
		}
	}
	const n = 30_000
	f := find("hmm_latent_rng")
	x := sample(t, f, chainArgs(), n, source(f, 25))
	var count [8]float64
	for i := 0; i < len(x); i += 3 {
		count[int(x[i]-1)+2*int(x[i+1]-1)+4*int(x[i+2]-1)]++
	}
	got, want := 0.0, 0.0
	for path, p := range joint {
		got, want = got+count[path]/n, want+p/total
		if math.Abs(got-want) > dkw(n, 1e-6/50) {
			t.Errorf("paths up to %d have the frequency %v, want %v", path, got, want)
		}
	}
}

// TestStateSpace compares the density of a linear state space model with the multivariate normal
// density of all its observations.
func TestStateSpace(t *testing.T) {
	y := []float64{0.4, -0.2, 1.1} // one variable, observed at three times
	f, g, v, w, m0, c0 := 1.5, 0.7, 0.3, 0.2, 0.5, 2.0
	one := func(x float64) Value { return Value{Type: tMat, Shape: []int{1, 1}, Data: []float64{x}} }
	vec := func(x ...float64) Value { return Value{Type: tVec, Shape: []int{len(x)}, Data: x} }
	mean, state := make([]float64, 3), make([]float64, 9)
	variance := c0
	for i := range 3 {
		mean[i] = f * m0 * math.Pow(g, float64(i+1))
		variance = g*g*variance + w
		for j := i; j < 3; j++ {
			state[3*i+j] = f * f * variance * math.Pow(g, float64(j-i))
			state[3*j+i] = state[3*i+j]
		}
		state[4*i] += v
	}
	want, err := Eval(find("multi_normal_lpdf"), false, []Value{vec(y...), vec(mean...), {Type: tMat, Shape: []int{3, 3}, Data: state}})
	if err != nil {
		t.Fatal(err)
	}
	for i, noise := range []Value{vec(v), one(v)} {
		fn := nth("gaussian_dlm_obs_lpdf", i)
		got, err := Eval(fn, false, []Value{{Type: tMat, Shape: []int{1, 3}, Data: y}, one(f), one(g), noise, one(w), vec(m0), one(c0)})
		if err != nil || !near(got[0], want[0], 1e-13) {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
	}
}

// TestDecompositions checks that the product of the factors is the matrix, and that the factors
// have the right structure, for tall, square and wide matrices.
func TestDecompositions(t *testing.T) {
	rng := source(find("qr_Q"), 26)
	value := func(name string, m Value) ([]float64, int) {
		v, err := Eval(find(name), false, []Value{m})
		if err != nil {
			t.Fatal(name, err)
		}
		return v, len(v)
	}
	times := func(a, b []float64, r, k, c int) []float64 {
		m := make([]float64, r*c)
		for i := range r {
			for j := range c {
				for l := range k {
					m[i*c+j] += a[i*k+l] * b[l*c+j]
				}
			}
		}
		return m
	}
	transposed := func(a []float64, r, c int) []float64 {
		b := make([]float64, r*c)
		for i := range r {
			for j := range c {
				b[j*r+i] = a[i*c+j]
			}
		}
		return b
	}
	same := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if !near(got[i], want[i], 1e-13) {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	unit := func(n int) []float64 {
		m := make([]float64, n*n)
		for i := range n {
			m[i*n+i] = 1
		}
		return m
	}
	for _, s := range [][2]int{{5, 3}, {4, 4}, {3, 5}, {1, 1}} {
		r, c := s[0], s[1]
		k := min(r, c)
		m := Value{Type: tMat, Shape: []int{r, c}, Data: make([]float64, r*c)}
		for i := range m.Data {
			m.Data[i] = rng.NormFloat64()
		}
		q, n := value("qr_Q", m)
		tri, _ := value("qr_R", m)
		if n != r*r {
			t.Fatalf("qr_Q has %d elements", n)
		}
		same("QR", times(q, tri, r, r, c), m.Data)
		same("QᵀQ", times(transposed(q, r, r), q, r, r, r), unit(r))
		for i := range r {
			if i < c && tri[i*c+i] < 0 {
				t.Errorf("R has %v on its diagonal", tri[i*c+i])
			}
			for j := range min(i, c) {
				if tri[i*c+j] != 0 {
					t.Errorf("R is not triangular: %v", tri)
				}
			}
		}
		q, _ = value("qr_thin_Q", m)
		tri, _ = value("qr_thin_R", m)
		same("thin QR", times(q, tri, r, k, c), m.Data)
		u, _ := value("svd_U", m)
		v, _ := value("svd_V", m)
		values, _ := value("singular_values", m)
		us := slices.Clone(u)
		for i := range us {
			us[i] *= values[i%k]
		}
		same("SVD", times(us, transposed(v, c, k), r, k, c), m.Data)
		same("UᵀU", times(transposed(u, r, k), u, k, r, k), unit(k))
		inv, _ := value("generalized_inverse", m)
		same("A A⁺ A", times(times(m.Data, inv, r, c, r), m.Data, r, r, c), m.Data)
	}
	spd := Draw(rng, tMat, types.CovMat)
	vectors, _ := value("eigenvectors_sym", spd)
	values, _ := value("eigenvalues_sym", spd)
	scaled := slices.Clone(vectors)
	for i := range scaled {
		scaled[i] *= values[i%vectorSize]
	}
	same("eigenvectors", times(scaled, transposed(vectors, vectorSize, vectorSize), vectorSize, vectorSize, vectorSize), spd.Data)
}

// TestColumns checks conversions between matrices and arrays of their columns or rows, and that a
// vector of one covariate is a matrix of one column.
func TestColumns(t *testing.T) {
	m := Value{Type: tMat, Shape: []int{2, 3}, Data: []float64{1, 2, 3, 4, 5, 6}}
	columns := Value{Type: tVec.Array(1), Shape: []int{3, 2}, Data: []float64{1, 4, 2, 5, 3, 6}}
	call := func(name string, args ...Value) []float64 {
		ts := make([]types.Type, len(args))
		for i, a := range args {
			ts[i] = a.Type
		}
		o, _, fail := types.Resolve(stdlib.Universe().Lookup(name), ts)
		if fail != nil {
			t.Fatalf("%s: %v", name, fail)
		}
		v, err := Eval(o.(*stdlib.Func), false, args)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	for _, c := range []struct {
		name string
		arg  Value
		want []float64
	}{{"to_matrix", columns, m.Data}, {"to_vector_array", m, columns.Data}, {"to_row_vector_array", m, m.Data}} {
		if got := call(c.name, c.arg); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	vec := func(x ...float64) Value { return Value{Type: tVec, Shape: []int{len(x)}, Data: x} }
	x, beta, sigma := []float64{0.5, -1, 2}, vec(0.7), Scalar(tReal, 1.5)
	for _, y := range []Value{vec(1, 2, 3), Scalar(tReal, 2)} {
		for _, alpha := range []Value{vec(0.1, 0.2, 0.3), Scalar(tReal, 0.1)} {
			want := call("normal_id_glm_lpdf", y, Value{Type: tMat, Shape: []int{3, 1}, Data: x}, alpha, beta, sigma)
			if got := call("normal_id_glm_lpdf", y, vec(x...), alpha, beta, sigma); !slices.Equal(got, want) {
				t.Errorf("normal_id_glm_lpdf: %v, want %v", got, want)
			}
		}
	}
	row := Value{Type: tRow, Shape: []int{3}, Data: x}
	one := call("normal_id_glm_lpdf", Scalar(tReal, 2), row, Scalar(tReal, 0.1), vec(1, 2, 3), sigma)
	if want := call("normal_lpdf", Scalar(tReal, 2), Scalar(tReal, 0.1+0.5-2+6), sigma); !near(one[0], want[0], 1e-14) {
		t.Errorf("normal_id_glm_lpdf of one outcome: %v, want %v", one, want)
	}
}
