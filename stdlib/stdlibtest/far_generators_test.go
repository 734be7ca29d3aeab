package stdlibtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// farParameters returns parameters that span the domain c.
func farParameters(c types.Constraint, whole bool) []float64 {
	var xs []float64
	positive := []float64{1e-307, 1e-300, 1e-100, 1e-30, 1e-8, 1e-3, 1, 1e3, 1e8, 1e16, 1e30, 1e100, 1e300}
	switch {
	case whole:
		xs = []float64{-1000, 0, 1, 2, 1000, 1e6, math.MaxInt32}
	case c.Hi == 1:
		xs = []float64{0, 1e-307, 1e-300, 1e-30, 1e-8, 0.3, 0.5, 1 - 1e-8, 1 - 0x1p-53, 1}
	default:
		for _, x := range positive {
			xs = append(xs, -x, x)
		}
		xs = append(xs, 0)
	}
	return slices.DeleteFunc(xs, func(x float64) bool { return c != (types.Constraint{}) && !c.Contains(x) })
}

// farExceptions lists distributions that do not satisfy TestFarGenerators, with the reasons. The
// list may only become shorter.
var farExceptions = map[string]string{
	"exp_mod_normal": "the product of rate and scale underflows in the distribution function",
}

// TestFarGenerators tests generators at parameters that span their domains. Draws must lie in the
// support and must not be NaN. They may be infinite only if values beyond float64 are likely. They
// must agree with the distribution function, by a Kolmogorov test at level 10⁻⁵.
func TestFarGenerators(t *testing.T) {
	const n = 60
	combinations := short.Of(40, 10)
	eachDist(t, func(t *testing.T, f *stdlib.Func) {
		if !f.Random {
			return
		}
		d := f.Dist
		rng := source(f, 41)
		used := false
		fail := func(format string, args ...any) {
			used = true
			if farExceptions[d.Name] == "" {
				t.Errorf(format, args...)
			}
		}
		for range combinations {
			params := make([]float64, len(d.Params))
			for i, p := range d.Params {
				c := p.In
				if p.Draws != (types.Constraint{}) {
					c = p.Draws
				}
				xs := farParameters(c, p.Int)
				params[i] = xs[rng.IntN(len(xs))]
			}
			legal := true
			for _, r := range d.Relations {
				if r.Arg > 0 && r.Than > 0 {
					x, than := params[r.Arg-1], params[r.Than-1]
					legal = legal && x >= than && (!r.Strict || x > than)
				}
			}
			if !legal {
				continue
			}
			ys := make([]float64, n)
			for i := range ys {
				y := d.Rand(rng, params)
				ys[i] = y
				in := d.Support
				if in == (types.Constraint{}) {
					in = d.Variate
				}
				closed := in // with both ends, which a draw may reach by rounding
				closed.LoOpen, closed.HiOpen = false, false
				switch {
				case math.IsNaN(y) || in != (types.Constraint{}) && !closed.Contains(y) && !math.IsInf(y, 0):
					fail("%s %v: %v is drawn", d.Name, params, y)
				case d.Discrete && y != math.Floor(y):
					fail("%s %v: %v is drawn", d.Name, params, y)
				}
			}
			if bad := farDistance(f, params, ys); bad != "" {
				fail("%s %v: %s", d.Name, params, bad)
			}
		}
		if !used && farExceptions[d.Name] != "" && !testing.Short() {
			t.Errorf("%s is right: delete it from the list", d.Name)
		}
	})
}

// farDistance compares draws with the distribution function F. Because y is rounded, it compares
// the share of draws of at most y with F slightly above y, and the share of draws below y with F
// slightly below y.
func farDistance(f *stdlib.Func, params, ys []float64) string {
	d := f.Dist
	// The distribution function of von_mises is for angles from -π.
	if d.LogCDF == nil || d.CDFCounts || d.Name == "von_mises" {
		return ""
	}
	if d.Discrete && slices.ContainsFunc(ys, func(y float64) bool { return math.Abs(y) > math.MaxInt32 }) {
		return "" // the distribution function refuses the arguments
	}
	in := d.Support
	if in == (types.Constraint{}) {
		in = d.Variate
	}
	bounded := in != (types.Constraint{})
	// at returns the distribution function at y, or outside if y is refused.
	at := func(y, outside float64) float64 {
		if bounded && !in.Contains(y) {
			return outside
		}
		lcdf := find(d.Name + "_lcdf")
		v, err := Eval(lcdf, false, append([]Value{{Type: forms(lcdf)[0][0], Data: []float64{y}}}, values(f, params, 0)...))
		if err != nil {
			return outside
		}
		return math.Exp(v[0])
	}
	slices.Sort(ys)
	distance := 0.0
	n := float64(len(ys))
	for i, y := range ys {
		below, upTo := y-1e-12*math.Abs(y), y+1e-12*math.Abs(y)
		switch {
		case d.Discrete:
			below, upTo = y-1, y
		case math.Abs(y) < 1e-300:
			below, upTo = -1e-300, 1e-300
		}
		last := i == len(ys)-1 || ys[i+1] > y
		first := i == 0 || ys[i-1] < y
		if first && below > -1e300 {
			distance = max(distance, at(min(below, 1e300), 0)-float64(i)/n)
		}
		if last && upTo < 1e300 {
			distance = max(distance, float64(i+1)/n-at(max(upTo, -1e300), 1))
		}
	}
	if !(distance <= dkw(len(ys), 1e-6)) {
		return fmt.Sprintf("a distance of %.3f from the distribution function (draws %v … %v … %v)", distance, ys[0], ys[len(ys)/2], ys[len(ys)-1])
	}
	return ""
}
