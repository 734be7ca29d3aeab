package quick

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func stream(seed byte) *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{seed})) }

// near reports whether two numbers differ by at most digits times the last digit of unit.
func near(a, b, unit, digits float64) bool {
	return math.Abs(a-b) <= digits*(math.Nextafter(math.Abs(unit), math.Inf(1))-math.Abs(unit))
}

func TestTables(t *testing.T) {
	// Taking square roots of 2 repeatedly, with 200 binary digits, gives 2^(1/64).
	root := new(big.Float).SetPrec(200).SetInt64(2)
	for range 6 {
		root.Sqrt(root)
	}
	power := new(big.Float).SetPrec(200).SetInt64(1)
	for i, got := range powers {
		if want, _ := power.Float64(); got != want {
			t.Errorf("2^(%d/64) is %v, not %v", i, got, want)
		}
		power.Mul(power, root)
	}
	for k, got := range quarter {
		if want := math.Sin(math.Pi * float64(k) / 128); !near(got, want, want, 1) {
			t.Errorf("sin(π%d/128) is %v, not %v", k, got, want)
		}
	}
	// All layers have the same area. That of the lowest one consists of a rectangle and the tail.
	density := func(x float64) float64 { return math.Exp(-0.5 * x * x) }
	tail := math.Sqrt(math.Pi/2) * math.Erfc(edges[1]/math.Sqrt2)
	area := edges[1]*density(edges[1]) + tail
	if got := edges[0] * density(edges[1]); math.Abs(got/area-1) > 1e-14 {
		t.Errorf("the lowest layer has the area %v, not %v", got, area)
	}
	for i := 1; i < 256; i++ {
		if got := edges[i] * (density(edges[i+1]) - density(edges[i])); math.Abs(got/area-1) > 1e-11 {
			t.Errorf("layer %d has the area %v, not %v", i, got, area)
		}
	}
	if edges[256] != 0 {
		t.Errorf("the last layer ends at %v", edges[256])
	}
}

func TestExp(t *testing.T) {
	rng := stream(1)
	for _, spread := range []float64{1e-300, 1e-9, 1e-3, 1, 30, maxArg} {
		for range 20000 {
			x := spread * (2*rng.Float64() - 1)
			if got, want := Exp(x), math.Exp(x); !near(got, want, want, 2) {
				t.Fatalf("exp(%v) is %v, not %v", x, got, want)
			}
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), maxArg, -maxArg, math.Nextafter(maxArg, 0), -math.Nextafter(maxArg, 0), 710, -745, -800, math.Inf(1), math.Inf(-1), math.Ln2, 1} {
		if got, want := Exp(x), math.Exp(x); got != want && !near(got, want, want, 2) {
			t.Errorf("exp(%v) is %v, not %v", x, got, want)
		}
	}
	if Exp(0) != 1 || !math.IsNaN(Exp(math.NaN())) {
		t.Errorf("exp(0) is %v, exp(NaN) %v", Exp(0), Exp(math.NaN()))
	}
}

func TestSincos(t *testing.T) {
	rng := stream(2)
	check := func(x float64) {
		t.Helper()
		s, c := Sincos(x)
		wantS, wantC := math.Sincos(x)
		if !near(s, wantS, 1, 2) || !near(c, wantC, 1, 2) {
			t.Errorf("sine and cosine of %v are %v and %v, not %v and %v", x, s, c, wantS, wantC)
		}
		if r := s*s + c*c; !near(r, 1, 1, 3) {
			t.Errorf("%v is turned by a matrix of determinant 1 %+g", x, r-1)
		}
		back, same := Sincos(-x)
		if back != -s || same != c {
			t.Errorf("the rotation by -%v is not that by it, backwards", x)
		}
	}
	for _, spread := range []float64{1e-9, 1e-3, 1, 7, farthest} {
		for range 20000 {
			check(spread * (2*rng.Float64() - 1))
		}
	}
	for k := range 300 {
		check(float64(k) * math.Pi / 128)
		check((float64(k) + 0.5) * math.Pi / 128)
	}
	check(0)
	check(farthest)
	check(1e6)
	if s, c := Sincos(math.NaN()); !math.IsNaN(s) || !math.IsNaN(c) {
		t.Errorf("sine and cosine of NaN are %v and %v", s, c)
	}
}

// distribution returns √n times the distance between the empirical distribution of numbers and the
// standard normal. It exceeds 1.95 in one of 1000 cases (Kolmogorov and Smirnov).
func distribution(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	most := 0.0
	for i, v := range x {
		p := 0.5 * math.Erfc(-v/math.Sqrt2)
		most = max(most, math.Abs(p-float64(i)/float64(len(x))), math.Abs(p-float64(i+1)/float64(len(x))))
	}
	return most * math.Sqrt(float64(len(x)))
}

// TestNormals checks that the numbers at each position of a call are standard normal, whatever its
// length, and do not depend on the previous numbers.
func TestNormals(t *testing.T) {
	rng := stream(3)
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 33} {
		const calls = 20000
		places := make([][]float64, n)
		var lags, squareLags float64
		x := make([]float64, n)
		for range calls {
			squares := Normals(rng, x)
			sum := 0.0
			for i, v := range x {
				places[i] = append(places[i], v)
				sum += v * v
				if i > 0 {
					lags += x[i-1] * v
					squareLags += (x[i-1]*x[i-1] - 1) * (v*v - 1) / 2
				}
			}
			if math.Abs(sum-squares) > 1e-12*sum {
				t.Fatalf("the sum of squares is %v, not %v", squares, sum)
			}
		}
		for i, p := range places {
			if d := distribution(p); d > 2.3 { // one of some 20,000
				t.Errorf("number %d of %d: the distribution is off by %v", i, n, d)
			}
		}
		if pairs := math.Sqrt(calls * float64(n-1)); n > 1 && (math.Abs(lags/pairs) > 5 || math.Abs(squareLags/pairs) > 10) {
			t.Errorf("neighbours of %d depend on each other: %v and %v", n, lags/pairs, squareLags/pairs)
		}
	}
	if Normals(rng, nil) != 0 {
		t.Error("the sum of no squares is not 0")
	}
}

// TestNormalShares checks that every part of the density has the right share of numbers: the tails,
// the layers and the parts between them, for either sign.
func TestNormalShares(t *testing.T) {
	rng := stream(4)
	const n, edge, width = 4 << 20, 4.5, 0.05
	bins := make([]float64, 2*int(edge/width)+2)
	x := make([]float64, 1024)
	for range n / len(x) {
		Normals(rng, x)
		for _, v := range x {
			k := int(math.Floor(v/width)) + len(bins)/2
			bins[max(0, min(len(bins)-1, k))]++
		}
	}
	below := func(k int) float64 { // the probability of what is below bin k
		switch k {
		case 0:
			return 0
		case len(bins):
			return 1
		}
		return 0.5 * math.Erfc(-float64(k-len(bins)/2)*width/math.Sqrt2)
	}
	chi := 0.0
	for k, got := range bins {
		want := n * (below(k+1) - below(k))
		if k >= len(bins)/2 { // of the complement, which has digits where the sum has none
			want = n * (below(len(bins)-k) - below(len(bins)-k-1))
		}
		chi += (got - want) * (got - want) / want
		if math.Abs(got-want) > 5*math.Sqrt(want)+5 {
			t.Errorf("%v numbers from %v on, not %v", got, float64(k-len(bins)/2)*width, want)
		}
	}
	freedom := float64(len(bins) - 1)
	if z := (chi - freedom) / math.Sqrt(2*freedom); math.Abs(z) > 4.5 {
		t.Errorf("chi square is %v for %v degrees of freedom", chi, freedom)
	}
}

// TestNormalsStay checks that the numbers for a seed are the same as in earlier versions, since a
// chain's draws depend only on its seed.
func TestNormalsStay(t *testing.T) {
	want := []float64{0.9626486076518145, 1.268179569199512, -0.013983147710725674, 0.005069161308282008, -0.56734829584901, -0.04748211593982192, -0.9488357243770655, 0.2212248970164065, 0.9137903559957848, 0.023868919832304353, 0.6985362302046958}
	got := make([]float64, len(want))
	rng := stream(5)
	Normals(rng, got)
	if next := rng.Uint64(); !slices.Equal(got, want) || next != 0x2d8df5d4e713b814 {
		t.Errorf("the numbers are %v, and then the bits %#x", got, next)
	}
}
