package types_test

import (
	"os"
	"testing"

	"github.com/ppl-lang/ppl/lang/check/checktest"
	. "github.com/ppl-lang/ppl/lang/types"
)

// readSignatures reads Stan's list of signatures from the path in PPL_SIGNATURES.
func readSignatures(t *testing.T) map[string][]Overload {
	t.Helper()
	path := os.Getenv("PPL_SIGNATURES")
	if path == "" {
		t.Skip("PPL_SIGNATURES is not set to the path of Stan's signatures.txt")
	}
	lib, err := checktest.Stan(path)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// universe returns all types with up to maxDims array dimensions.
func universe(maxDims int, complexToo bool) []Type {
	kinds := []Kind{Int, Real, Vector, RowVector, Matrix}
	if complexToo {
		kinds = append(kinds, Complex, ComplexVector, ComplexRowVector, ComplexMatrix)
	}
	var ts []Type
	for d := 0; d <= maxDims; d++ {
		for _, k := range kinds {
			ts = append(ts, Type{Kind: k, Dims: d})
		}
	}
	return ts
}

// TestFamiliesAgainstStan compares families with Stan's list. For every combination of argument
// types, both must agree on whether the call is legal, on its result type, and on the number of
// promotions.
func TestFamiliesAgainstStan(t *testing.T) {
	sigs := readSignatures(t)
	type family []Overload
	complexBinary := func(name string) Elementwise {
		return Elementwise{Name: name, Args: []Kind{Complex, Complex}, Result: Complex}
	}
	intFirst := func(name string) family {
		return family{Elementwise{Name: name, Args: []Kind{Int, Real}, Result: Real, Strict: true}}
	}
	intSecond := func(name string) Elementwise {
		return Elementwise{Name: name, Args: []Kind{Real, Int}, Result: Real, Strict: true}
	}
	ints := func(name string, n int) Elementwise {
		return Elementwise{Name: name, Args: []Kind{Int, Int}[:n], Result: Int}
	}
	strict := func(e Elementwise) Elementwise { e.Strict = true; return e }
	all := map[string]family{
		"choose":            {ints("choose", 2)},
		"ldexp":             {intSecond("ldexp")},
		"rising_factorial":  {intSecond("rising_factorial"), ints("rising_factorial", 2)},
		"lmgamma":           intFirst("lmgamma"),
		"bessel_first_kind": intFirst("bessel_first_kind"),
		"binary_log_loss":   intFirst("binary_log_loss"),
		"owens_t":           {strict(Binary("owens_t"))},
		"gamma_p":           {strict(Binary("gamma_p"))},
		"pow":               {Binary("pow"), complexBinary("pow")},
		"exp":               {Unary("exp"), Fixed{Name: "exp", Params: []Type{{Kind: Complex}}, Result: Type{Kind: Complex}}},
		"fma":               {Elementwise{Name: "fma", Args: []Kind{Real, Real, Real}, Result: Real, Strict: true, NoArray: true}},
		"minus":             {ints("minus", 1), strict(Unary("minus")), Elementwise{Name: "minus", Args: []Kind{Complex}, Result: Complex}},
		"abs":               {ints("abs", 1), strict(Unary("abs")), Elementwise{Name: "abs", Args: []Kind{Complex}, Result: Real}},

		"normal_lpdf":          {Density("normal_lpdf", Reals, Reals, Reals)},
		"student_t_lccdf":      {Density("student_t_lccdf", Reals, Reals, Reals, Reals)},
		"poisson_lpmf":         {Density("poisson_lpmf", Ints, Reals)},
		"beta_binomial_lpmf":   {Density("beta_binomial_lpmf", Ints, Ints, Reals, Reals)},
		"multi_normal_lpdf":    {Density("multi_normal_lpdf", Vectors, Vectors, Just(MatrixType))},
		"multi_student_t_lpdf": {Density("multi_student_t_lpdf", Vectors, Just(RealType), Vectors, Just(MatrixType))},
		"categorical_lpmf":     {Density("categorical_lpmf", Ints, Just(VectorType))},
		"poisson_log_glm_lpmf": {
			Density("poisson_log_glm_lpmf", Ints, Just(MatrixType), OneOf(RealType, VectorType), Just(VectorType)),
			Density("poisson_log_glm_lpmf", Just(IntType.Array(1)), Just(RowVectorType), OneOf(RealType, VectorType), Just(VectorType)),
		},
		"normal_rng":       {Generator("normal_rng", RealType, AnyReals, AnyReals)},
		"poisson_rng":      {Generator("poisson_rng", IntType, AnyReals)},
		"binomial_rng":     {Generator("binomial_rng", IntType, Ints, AnyReals)},
		"multi_normal_rng": {Generator("multi_normal_rng", VectorType, Vectors, Just(MatrixType))},
		"dirichlet_rng":    {Fixed{Name: "dirichlet_rng", Params: []Type{VectorType}, Result: VectorType}},
	}
	for _, name := range []string{"Phi", "tgamma", "square", "floor", "inv_logit", "log1m"} {
		all[name] = family{Unary(name)}
	}
	for _, name := range []string{"fmax", "atan2", "beta", "fdim", "hypot", "lbeta", "lchoose", "log_diff_exp", "lmultiply", "fmod"} {
		all[name] = family{Binary(name)}
	}
	for name, fam := range all {
		t.Run(name, func(t *testing.T) {
			cands := sigs[name]
			if len(cands) == 0 {
				t.Fatal("not in the list")
			}
			arity := len(cands[0].(Fixed).Params)
			// Try all combinations of types, with fewer types if there are many arguments.
			ts := universe(7, true)
			switch {
			case arity == 2 && len(cands) > 60:
				ts = universe(2, true)
			case arity > 2:
				ts = universe(1, false)
			}
			args := make([]Type, arity)
			bad := 0
			var try func(i int)
			try = func(i int) {
				if bad > 10 {
					return
				}
				if i < arity {
					for _, a := range ts {
						args[i] = a
						try(i + 1)
					}
					return
				}
				want, wm, wf := Resolve(cands, args)
				got, gm, gf := Resolve(fam, args)
				switch {
				case wf != nil && wf.Ambiguous:
					// Families may resolve calls that are ambiguous in Stan's list.
				case (want == nil) != (got == nil):
					bad++
					t.Errorf("%v: list %v, family %v (%v)", args, want, got, gf)
				case got != nil && !gm.Result.Equal(wm.Result):
					bad++
					t.Errorf("%v: list gives %v, family %v", args, wm.Result, gm.Result)
				case got != nil && gm.Promotions != wm.Promotions:
					bad++
					t.Errorf("%v: list promotes %d, family %d", args, wm.Promotions, gm.Promotions)
				}
				for j, p := range gm.Params {
					if _, ok := Promotable(args[j], p); !ok {
						bad++
						t.Errorf("%v: argument %d does not promote to %v", args, j, p)
					}
				}
			}
			try(0)
		})
	}
}
