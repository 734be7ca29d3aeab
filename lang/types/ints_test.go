package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestInts compares integer arithmetic with that of big integers, on both sides of the bounds.
func TestInts(t *testing.T) {
	ops := map[string]struct {
		ours  func(x, y int64) (int64, error)
		exact func(z, x, y *big.Int) *big.Int
	}{
		"+": {AddInts, (*big.Int).Add}, "-": {SubInts, (*big.Int).Sub}, "*": {MulInts, (*big.Int).Mul},
		"/": {DivInts, (*big.Int).Quo}, "%": {RemInts, (*big.Int).Rem},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := []int64{0, 1, -1, 2, -7, math.MaxInt32, math.MinInt32, 1 << 26, 1<<27 - 1, MaxInt, -MaxInt, MaxInt - 1}
	for range 40 {
		numbers = append(numbers, rng.Int64N(1<<(1+rng.IntN(53)))*(2*rng.Int64N(2)-1))
	}
	most := big.NewInt(MaxInt)
	for name, op := range ops {
		for _, x := range numbers {
			for _, y := range numbers {
				got, err := op.ours(x, y)
				if y == 0 && (name == "/" || name == "%") {
					if err == nil {
						t.Errorf("%d %s 0 is %d", x, name, got)
					}
					continue
				}
				want := op.exact(new(big.Int), big.NewInt(x), big.NewInt(y))
				if inside := want.CmpAbs(most) <= 0; (err == nil) != inside || inside && got != want.Int64() {
					t.Errorf("%d %s %d is %d (%v), want %v", x, name, y, got, err, want)
				}
			}
		}
	}
	for x, want := range map[float64]string{
		math.NaN():   "the result must be an int between -2⁵³ and 2⁵³, but is nan",
		math.Inf(1):  "integer overflow: the result must be an int between -2⁵³ and 2⁵³, but is inf",
		math.Inf(-1): "integer overflow: the result must be an int between -2⁵³ and 2⁵³, but is -inf",
		1e300:        "integer overflow: the result must be an int between -2⁵³ and 2⁵³, but is 1e+300",
	} {
		if _, err := WholeInt(x); err == nil || err.Error() != want {
			t.Errorf("%v as an int: %v", x, err)
		}
	}
	if i, err := WholeInt(-MaxInt); i != -MaxInt || err != nil {
		t.Error(i, err)
	}
}
