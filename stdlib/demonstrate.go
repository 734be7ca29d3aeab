package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Demonstration calls f with simple arguments from its declared domains and returns the call as
// written in a program, and its value. ok is false if no form of f has known arguments, or if all
// arguments that were tried are illegal. A generator's value is one draw. The declared Example
// comes first.
func (f *Func) Demonstration() (call, value string, ok bool) {
	if len(f.Example) > 0 {
		e := f.Example[0]
		return e.Call, e.Value, true
	}
	var ts []types.Type
	switch o := f.Overload.(type) {
	case types.Fixed:
		ts = o.Params
	case types.Elementwise:
		for _, k := range o.Args {
			ts = append(ts, types.Type{Kind: k})
		}
	case types.Vectorised:
		for _, s := range o.Args {
			ts = append(ts, s.Types[0])
		}
	default:
		return "", "", false
	}
	if f.OfShape != nil || f.Leaves != nil || slices.ContainsFunc(ts, func(t types.Type) bool { return t.Composite() || t.Kind == types.Function }) {
		return "", "", false
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		values := make([][]float64, len(ts))
		for i, t := range ts {
			c := types.Constraint{}
			if i < len(f.In) {
				c = f.In[i]
			}
			values[i] = simple(rng, t, c)
		}
		if v, shape, err := f.tryOut(ts, values); err == nil && len(v) > 0 && !slices.ContainsFunc(v, notFinite) {
			m, _ := f.Match(ts)
			return f.written(ts, values), Literal(m.Result, shape, v), true
		}
	}
	return "", "", false
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// tryOut evaluates a call with constant arguments.
func (f *Func) tryOut(ts []types.Type, values [][]float64) (v []float64, shape []int, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case *ad.BuildError:
			err = r
		default:
			panic(r)
		}
	}()
	g := ad.NewGraph()
	args := make([]Arg, len(ts))
	for i, t := range ts {
		args[i] = Arg{Type: t, Ref: g.ConstArray(ad.Type{Shape: shapeOf(t, len(values[i]))}, values[i])}
		if t.Kind == types.Int {
			for _, x := range values[i] {
				args[i].Ints = append(args[i].Ints, int64(x))
			}
		}
	}
	b := &Builder{G: g, Name: f.Name}
	result := g.Const(0)
	if f.Terms != nil {
		for _, t := range f.Terms(b, args) {
			result = g.Add(result, t)
		}
	} else {
		result = f.Build(b, args)
	}
	g.Output(result)
	out, err := g.Eval(nil, &ad.Env{Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		return nil, nil, err
	}
	return out[0], g.Type(result).Shape, nil
}

// demonstrated is the size of the vectors and matrices in demonstrations.
const demonstrated = 2

// shapeOf returns the shape of a value of type t with n numbers.
func shapeOf(t types.Type, n int) []int {
	switch {
	case t.Rank() == 0:
		return nil
	case t.Rank() == 1:
		return []int{n}
	}
	s := slices.Repeat([]int{demonstrated}, t.Rank())
	s[0] = n / (product(s) / demonstrated)
	return s
}

// simple returns a value of type t with few digits from the domain c.
func simple(rng *rand.Rand, t types.Type, c types.Constraint) []float64 {
	whole := t.Kind == types.Int
	n := product(slices.Repeat([]int{demonstrated}, t.Rank()))
	v := make([]float64, n)
	if short := c.Kind; short.Structured() {
		for i, one := 0, short.Short(); i < n; i += len(one) {
			copy(v[i:], one)
		}
		return v
	}
	lo, hi := c.Lo, c.Hi
	if c == (types.Constraint{}) || math.IsInf(lo, -1) && math.IsInf(hi, 1) {
		lo, hi = -2, 2
		if whole {
			lo, hi = 0, 3
		}
	}
	if math.IsInf(hi, 1) {
		hi = lo + 3
	}
	if math.IsInf(lo, -1) {
		lo = hi - 3
	}
	for i := range v {
		x := lo + (hi-lo)*(0.1+0.8*rng.Float64())
		if step := 2.; whole {
			v[i] = math.Round(x)
		} else if v[i] = math.Round(x*step) / step; v[i] <= lo || v[i] >= hi {
			v[i] = math.Round(x*20) / 20
		}
		v[i] += 0 // replaces -0 by 0
	}
	return v
}

// written returns a call as it is written in a program.
func (f *Func) written(ts []types.Type, values [][]float64) string {
	var b strings.Builder
	args := make([]string, len(ts))
	for i, t := range ts {
		args[i] = Literal(t, shapeOf(t, len(values[i])), values[i])
	}
	if op, ok := strings.CutPrefix(f.Name, "operator"); ok {
		switch {
		case op == "'":
			return args[0] + op
		case len(args) == 1:
			return op + args[0]
		}
		return args[0] + " " + op + " " + args[1]
	}
	b.WriteString(f.Name + "(")
	bar := strings.HasSuffix(f.Name, "_lpdf") || strings.HasSuffix(f.Name, "_lpmf") || strings.HasSuffix(f.Name, "cdf")
	for i, a := range args {
		switch {
		case i == 1 && bar:
			b.WriteString(" | ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(a)
	}
	return b.String() + ")"
}

// Literal writes numbers as an expression of type t, with six digits.
func Literal(t types.Type, shape []int, v []float64) string {
	if len(shape) == 0 {
		s := ad.FormatNumber(v[0])
		if t.Kind != types.Int && !strings.ContainsAny(s, ".en") {
			s += ".0"
		}
		return s
	}
	open, end, inner := "[", "]", types.RealType
	switch {
	case t.Dims > 0:
		open, end, inner = "{", "}", t
		inner.Dims--
	case t.Kind == types.Vector:
		end = "]'"
	case t.Kind == types.Matrix:
		inner = types.RowVectorType
	}
	n := len(v) / max(shape[0], 1)
	var parts []string
	for i := range shape[0] {
		parts = append(parts, Literal(inner, shape[1:], v[i*n:(i+1)*n]))
	}
	return open + strings.Join(parts, ", ") + end
}
