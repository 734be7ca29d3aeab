package stdlibtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

var (
	tInt  = types.IntType
	tReal = types.RealType
	tVec  = types.VectorType
	tRow  = types.RowVectorType
	tMat  = types.MatrixType
)

func list(ts ...types.Type) []types.Type { return ts }

// computedForms has the argument types for testing functions whose overload is Computed.
var computedForms = map[string][][]types.Type{
	"append_array": {list(tReal.Array(1), tReal.Array(1)), list(tVec.Array(1), tVec.Array(1)), list(tInt.Array(2), tInt.Array(2))},
	"dims":         {list(tMat.Array(1)), list(tReal), list(tVec), list(tRow.Array(2))},
	"head":         {list(tReal.Array(1), tInt), list(tMat.Array(2), tInt)},
	"num_elements": {list(tVec.Array(2))},
	"rep_array":    {list(tVec, tInt), list(tReal, tInt, tInt), list(tMat, tInt, tInt, tInt)},
	"reverse":      {list(tReal.Array(1)), list(tMat.Array(1))},
	"segment":      {list(tReal.Array(1), tInt, tInt), list(tVec.Array(1), tInt, tInt)},
	"size":         {list(tVec.Array(2))},
	"tail":         {list(tReal.Array(1), tInt), list(tVec.Array(1), tInt)},
	"to_array_1d":  {list(tReal.Array(3)), list(tInt.Array(2))},
	"student_t_qf": {list(tReal, tReal, tReal, tReal), list(tVec, tReal, tReal.Array(1), tRow)},
	"to_int":       {list(tReal), list(tReal.Array(2))},

	"lower_bound":          {list(tReal, tReal), list(tVec, tReal), list(tMat.Array(1), tMat.Array(1))},
	"upper_bound":          {list(tReal, tReal), list(tVec, tReal), list(tMat.Array(1), tMat.Array(1))},
	"lower_upper_bound":    {list(tReal, tReal, tReal), list(tVec, tReal, tVec), list(tReal.Array(2), tReal.Array(2), tReal)},
	"offset_multiplier":    {list(tReal, tReal, tReal), list(tVec, tReal, tVec), list(tReal.Array(2), tReal.Array(2), tReal)},
	"vector":               {list(tVec), list(tVec.Array(2)), list(tMat), list(tMat.Array(1))},
	"cholesky_factor_corr": {list(tVec, tInt), list(tVec.Array(1), tInt), list(tMat), list(tMat.Array(1))},
	"corr_matrix":          {list(tVec, tInt), list(tVec.Array(1), tInt), list(tMat), list(tMat.Array(1))},
	"cov_matrix":           {list(tVec, tInt), list(tVec.Array(1), tInt), list(tMat), list(tMat.Array(1))},
	"cholesky_factor_cov":  {list(tVec, tInt, tInt), list(tVec.Array(1), tInt, tInt), list(tMat), list(tMat.Array(1))},
}

// transformed returns the name of the constraint whose transform f is. "vector" means any
// constraint whose size follows from the unconstrained numbers. ok is false for other functions.
func transformed(f *stdlib.Func) (name string, ok bool) {
	for _, suffix := range []string{"_constrain", "_jacobian", "_unconstrain"} {
		if base, ok := strings.CutSuffix(f.Name, suffix); ok {
			if _, ok := computedForms[base]; ok {
				return base, true
			}
			return "vector", true
		}
	}
	return "", false
}

// forms returns argument types that f accepts: some from each family.
func forms(f *stdlib.Func) [][]types.Type {
	switch o := f.Overload.(type) {
	case types.Fixed:
		return [][]types.Type{o.Params}
	case types.Elementwise:
		one := make([]types.Type, len(o.Args))
		arr, vec, mixed := slices.Clone(one), slices.Clone(one), slices.Clone(one)
		for i, k := range o.Args {
			one[i] = types.Type{Kind: k}
			arr[i] = one[i].Array(2)
			vec[i], mixed[i] = tVec, one[i]
			if k == types.Int {
				vec[i] = tInt.Array(1)
			}
			if i == len(o.Args)-1 {
				mixed[i] = vec[i]
			}
		}
		fs := [][]types.Type{one}
		if !o.NoArray {
			fs = append(fs, arr)
		}
		if o.Args[0] == types.Real {
			fs = append(fs, vec)
			if len(o.Args) > 1 {
				fs = append(fs, mixed)
			}
		}
		return fs
	case types.Vectorised:
		first, many, mixed := make([]types.Type, len(o.Args)), make([]types.Type, len(o.Args)), make([]types.Type, len(o.Args))
		for i, s := range o.Args {
			first[i] = s.Types[0]
			many[i] = s.Types[min(1, len(s.Types)-1)]
			mixed[i] = first[i]
			if i%2 == 0 {
				mixed[i] = many[i]
			}
		}
		fs := [][]types.Type{first, many}
		if len(o.Args) > 1 {
			fs = append(fs, mixed)
		}
		return fs
	}
	var fs [][]types.Type
	name := f.Name
	if base, ok := transformed(f); ok {
		name = base
	}
	for _, ts := range computedForms[name] {
		if _, ok := f.Match(ts); ok {
			fs = append(fs, ts)
		}
	}
	return fs
}

// dependent has domains for arguments that depend on each other. For a generator they are those of
// the parameters.
var dependent = map[string][]types.Constraint{
	"uniform":                       {between(-0.9, 0.9), between(-3, -1), between(1, 3)},
	"pareto":                        {between(3, 5), between(0.5, 2), types.Positive},
	"pareto_type_2":                 {between(3, 5), between(-1, 2), types.Positive, types.Positive},
	"binomial":                      {between(0, 5), between(5, 8), types.UnitInterval},
	"binomial_logit":                {between(0, 5), between(5, 8), types.Finite},
	"binomial_logit_glm_lpmf":       {between(0, 5), between(5, 8), {}, {}, {}},
	"beta_binomial":                 {between(0, 5), between(5, 8), types.Positive, types.Positive},
	"von_mises":                     {between(-3, 3), types.Finite, types.PositiveFinite},
	"wiener":                        {between(2, 4), types.PositiveFinite, between(0.2, 1.5), types.OpenUnitInterval, types.Finite},
	"yule_simon":                    {between(1, 6), types.PositiveFinite},
	"discrete_range":                {between(2, 4), between(0, 2), between(4, 6)},
	"lower_bound_unconstrain":       {between(1, 3), between(-2, 0.5)},
	"upper_bound_unconstrain":       {between(-3, -1), between(-0.5, 2)},
	"lower_upper_bound_constrain":   {{}, between(-3, -1), between(-0.5, 2)},
	"lower_upper_bound_jacobian":    {{}, between(-3, -1), between(-0.5, 2)},
	"lower_upper_bound_unconstrain": {between(-0.5, 0.5), between(-3, -1), between(1, 2)},
	"offset_multiplier_constrain":   {{}, {}, types.PositiveFinite},
	"offset_multiplier_jacobian":    {{}, {}, types.PositiveFinite},
	"offset_multiplier_unconstrain": {{}, {}, types.PositiveFinite},
	"linspaced_vector":              {{}, between(-2, 0), between(1, 3)},
	"linspaced_row_vector":          {{}, between(-2, 0), between(1, 3)},
	"linspaced_array":               {{}, between(-2, 0), between(1, 3)},
}

func between(lo, hi float64) types.Constraint { return types.Between(lo, hi) }

// domain returns the constraint of argument i; the zero Constraint allows all numbers.
func domain(f *stdlib.Func, i int) types.Constraint {
	in := f.In
	base := f.Name
	if f.Dist != nil {
		base = f.Dist.Name
	}
	if d, ok := dependent[base]; ok {
		in = d
		if f.Random {
			in = d[1:]
		}
	}
	if i < len(in) {
		return in[i]
	}
	return types.Constraint{}
}

// dataOnly reports whether the function has arguments that must be data.
func dataOnly(f *stdlib.Func, ts []types.Type) bool {
	m, _ := f.Match(ts)
	return slices.Contains(m.DataOnly, true)
}

// arguments draws arguments of the given types from f's domain.
func arguments(rng *rand.Rand, f *stdlib.Func, ts []types.Type) []Value {
	vs := make([]Value, len(ts))
	for i, t := range ts {
		vs[i] = Draw(rng, t, domain(f, i))
	}
	if f.Name == "csr_matrix_times_vector" || f.Name == "csr_to_dense_matrix" {
		vs[0].Data, vs[1].Data = []float64{3}, []float64{4}
		vs[3].Data, vs[4].Data = []float64{1, 3, 2, 4}, []float64{1, 3, 3, 5}
	}
	if f.Name == "csr_mdivide_left_spd" || f.Name == "csr_log_determinant_spd" { // the lower triangle of three rows
		for k, least := range []float64{4, 0, 5, 6} {
			vs[1].Data[k] = least + math.Tanh(vs[1].Data[k])
		}
		vs[0].Data, vs[2].Data, vs[3].Data = []float64{3}, []float64{1, 1, 2, 3}, []float64{1, 2, 4, 5}
		if len(vs) > 4 {
			vs[4].Data = vs[4].Data[:3*len(vs[4].Data)/vs[4].Shape[0]]
			vs[4].Shape[0] = 3
		}
	}
	if base, ok := transformed(f); ok && len(vs) > 1 && vs[len(vs)-1].Type.Kind == types.Int {
		sized(rng, base, vs)
	}
	if strings.Contains(f.Name, "_id_glm_") {
		for i, t := range ts {
			// If x is a vector, it is a matrix of one column; if it is a row vector, there is
			// one outcome.
			if i == 3 && ts[1].Equal(tVec) || (i == 2 || i == 4) && t.Equal(tVec) && ts[0].IsScalar() && ts[1].Equal(tRow) {
				vs[i].Shape, vs[i].Data = []int{1}, vs[i].Data[:1]
			}
		}
	}
	if f.Name == "to_matrix" && len(vs) > 1 {
		if len(vs[0].Data) > 4 {
			vs[2].Data[0] = 8
		}
		if len(vs) > 3 {
			vs[3].Data[0] = 0
		}
	}
	return vs
}

// sized gives the arguments of a transform matching sizes: 3 by 3 matrices with their number of
// unconstrained numbers, and 4 by 3 Cholesky factors.
func sized(rng *rand.Rand, base string, vs []Value) {
	n := map[string]int{"cholesky_factor_corr": 3, "corr_matrix": 3, "cov_matrix": 6, "cholesky_factor_cov": 9}[base]
	v := &vs[0]
	v.Shape[len(v.Shape)-1] = n
	v.Data = make([]float64, ad.Type{Shape: v.Shape}.Size())
	for i := range v.Data {
		v.Data[i] = 0.8 * rng.NormFloat64()
	}
	vs[1].Data[0] = 3
	if len(vs) > 2 {
		vs[1].Data[0], vs[2].Data[0] = 4, 3
	}
}
