package stdlibtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

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

// computedForms are the argument types with which functions whose overload is
// Computed are tested.
var computedForms = map[string][][]types.Type{
	"append_array": {list(tReal.Array(1), tReal.Array(1)), list(tVec.Array(1), tVec.Array(1)), list(tInt.Array(2), tInt.Array(2))},
	"dims":         {list(tMat.Array(1)), list(tReal)},
	"head":         {list(tReal.Array(1), tInt), list(tMat.Array(2), tInt)},
	"num_elements": {list(tVec.Array(2))},
	"rep_array":    {list(tVec, tInt), list(tReal, tInt, tInt), list(tMat, tInt, tInt, tInt)},
	"reverse":      {list(tReal.Array(1)), list(tMat.Array(1))},
	"segment":      {list(tReal.Array(1), tInt, tInt), list(tVec.Array(1), tInt, tInt)},
	"size":         {list(tVec.Array(2))},
	"tail":         {list(tReal.Array(1), tInt), list(tVec.Array(1), tInt)},
	"to_array_1d":  {list(tReal.Array(3)), list(tInt.Array(2))},
	"to_int":       {list(tReal), list(tReal.Array(2))},
}

// forms are argument types that f accepts: some of each family.
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
	for _, ts := range computedForms[f.Name] {
		if _, ok := f.Match(ts); ok {
			fs = append(fs, ts)
		}
	}
	return fs
}

// arguments draws arguments of these types from f's domain.
func arguments(rng *rand.Rand, f *stdlib.Func, ts []types.Type) []Value {
	vs := make([]Value, len(ts))
	for i, t := range ts {
		var c types.Constraint
		if i < len(f.In) {
			c = f.In[i]
		}
		vs[i] = Draw(rng, t, c)
	}
	repair(f, vs)
	return vs
}

// at is the number that meets element i of argument 0 in argument v.
func at(v Value, i int) *float64 { return &v.Data[min(i, len(v.Data)-1)*bit(len(v.Data) > 1)] }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// repair makes arguments fit whose domains depend on each other.
func repair(f *stdlib.Func, vs []Value) {
	widest := 0
	for _, v := range vs {
		widest = max(widest, len(v.Data))
	}
	each := func(change func(i int)) {
		for i := range widest {
			change(i)
		}
	}
	// low adds to b so that it is greater than a, or lowers a.
	base := f.Name
	if k := strings.LastIndex(base, "_"); f.Dist != nil && k > 0 {
		base = base[:k]
	}
	rng := strings.HasSuffix(f.Name, "_rng")
	switch base {
	case "uniform":
		if rng {
			spread(vs[0], -3, -1)
			spread(vs[1], 1, 3)
			return
		}
		spread(vs[0], -0.9, 0.9)
		spread(vs[1], -3, -1)
		spread(vs[2], 1, 3)
	case "pareto":
		if !rng {
			spread(vs[0], 3, 5)
			spread(vs[1], 0.5, 2)
		}
	case "pareto_type_2":
		if !rng {
			spread(vs[0], 3, 5)
			spread(vs[1], -1, 2)
		}
	case "binomial", "binomial_logit", "beta_binomial":
		if !rng {
			each(func(i int) { *at(vs[1], i) = max(*at(vs[1], i), *at(vs[0], i)) })
			if len(vs[1].Data) == 1 {
				vs[1].Data[0] = slices.Max(vs[0].Data) + 1
			}
		}
	case "linspaced_vector", "linspaced_row_vector", "linspaced_array":
		vs[2].Data[0] = vs[1].Data[0] + 1
	case "to_matrix":
		if len(vs) > 1 && len(vs[0].Data) > 4 {
			vs[1].Data[0], vs[2].Data[0] = 2, 8
		}
		if len(vs) > 3 {
			vs[3].Data[0] = 0
		}
	case "sub_row", "sub_col", "segment", "block":
		for i := 1; i < len(vs); i++ {
			vs[i].Data[0] = 2
		}
	case "choose":
		each(func(i int) { *at(vs[0], i) = max(*at(vs[0], i), *at(vs[1], i)) })
	}
}

// spread moves numbers into [lo, hi] without making them equal.
func spread(v Value, lo, hi float64) {
	for i, x := range v.Data {
		v.Data[i] = lo + (hi-lo)*(0.5+0.5*math.Tanh(x-float64(i)/3))
	}
}
