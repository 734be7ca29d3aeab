package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
)

// generated is simulated data for trying a model.
type generated struct {
	Data    string           `json:"data"` // as JSON
	Summary string           `json:"summary"`
	Ints    map[string]int64 `json:"ints"`
}

// Values for sizes that are not known: manyRows for numbers of observations and times, which are
// called N or T, and fewParts for groups, columns and the like.
const (
	manyRows = 50
	fewParts = 5
)

// maxGenerated is the maximum number of elements of a simulated variable.
const maxGenerated = 1_000_000

// generate simulates the data that a model lacks, and keeps the given data. Integers, mostly sizes,
// are manyRows or fewParts if their bounds allow it. Predictors are standard normal within their
// bounds. Outcomes are drawn from the model, with parameters drawn from the prior. If that is not
// possible, they are drawn like predictors.
func (e *Engine) generate(c *call, s *Settings) (*generated, error) {
	model, err := s.compiled()
	if err != nil {
		return nil, err
	}
	given, err := s.read()
	if err != nil {
		return nil, err
	}
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	drawn := model.NotGiven(given)
	set, predictors := given, given
	tree, info := model.Program().Syntax()
	m := &maker{rng: rand.New(rand.NewPCG(o.Seed, 0x67656e)), info: info, numbers: map[string]check.Number{}}
	declared := dataDeclarations(tree)
	if len(declared) == 0 {
		return nil, errors.New("the model has no data")
	}
	for _, d := range declared {
		name := d.Name.Name
		if v, ok := given.Get(name); ok {
			if v.Shape == nil && len(v.Reals) == 1 {
				m.numbers[name] = check.RealNumber(v.Reals[0])
				if d.Type.Elem == "int" {
					m.numbers[name] = check.IntNumber(int64(v.Reals[0]))
				}
			}
			continue
		}
		v, err := m.value(name, d.Type)
		if err != nil {
			return nil, fmt.Errorf("ppl cannot make up values for %s: %w", name, err)
		}
		made, err := data.FromGo(map[string]any{name: v})
		if err != nil {
			return nil, err
		}
		set = set.Replace(made, nil)
		if !slices.Contains(drawn, name) { // the prior does not depend on outcomes
			predictors = predictors.Replace(made, nil)
		}
		switch x := v.(type) {
		case int64:
			m.numbers[name] = check.IntNumber(x)
		case float64:
			m.numbers[name] = check.RealNumber(x)
		}
	}
	var note string
	if len(drawn) > 0 {
		simulated, err := simulate(c, model, predictors, o, s.bindOptions(o.Seed, nil))
		if err != nil {
			note = fmt.Sprintf(" The model could not draw %s itself: %v.", strings.Join(drawn, ", "), err)
		} else {
			set = simulated
			note = fmt.Sprintf(" The model has drawn %s, at parameters from the prior.", strings.Join(drawn, ", "))
		}
	}
	var text bytes.Buffer
	if err := set.WriteJSON(&text); err != nil {
		return nil, err
	}
	return &generated{text.String(), describeSet(set) + note, ints(set)}, nil
}

// simulate draws the missing outcomes from the model.
func simulate(c *call, model *model.Model, predictors *data.Set, o fit.Options, b model.BindOptions) (*data.Set, error) {
	s, err := assess.NewSimulator(c, model, predictors, 1, o.Seed, assess.SimulatorOptions{Warmup: 300, Bind: b})
	if err != nil {
		return nil, err
	}
	values, _, err := s.Set(0)
	return values, err
}

// dataDeclarations returns the declarations in the data block.
func dataDeclarations(f *ast.File) []*ast.VarDecl {
	var out []*ast.VarDecl
	for _, b := range f.Blocks {
		if b.Kind != ast.Data {
			continue
		}
		for _, s := range b.Stmts {
			if d, ok := s.(*ast.VarDecl); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

// maker makes values up.
type maker struct {
	rng     *rand.Rand
	info    *check.Info
	numbers map[string]check.Number // scalar data, given or simulated
}

// value simulates a value of a declared type.
func (m *maker) value(name string, t *ast.TypeExpr) (any, error) {
	dims := make([]int, 0, len(t.ArrayDims))
	total := 1.0
	for _, x := range slices.Concat(t.ArrayDims, t.Sizes) {
		n, err := m.size(x)
		if err != nil {
			return nil, err
		}
		total *= float64(n)
		dims = append(dims, n)
	}
	if total > maxGenerated {
		return nil, fmt.Errorf("it would have %.0f numbers, which is too many", total)
	}
	low, high := math.Inf(-1), math.Inf(1)
	for _, b := range t.Bounds {
		if !b.Restricts() {
			continue
		}
		v, err := m.number(b.Value)
		if err != nil {
			return nil, err
		}
		switch b.Kind {
		case "lower":
			low = v
		case "upper":
			high = v
		}
	}
	arrays, sizes := dims[:len(t.ArrayDims)], dims[len(t.ArrayDims):]
	if t.Elem == "int" && len(arrays) == 0 { // a size
		usual := fewParts
		if strings.ContainsAny(name[:1], "NnTt") {
			usual = manyRows
		}
		return int64(min(max(float64(usual), low), high)), nil
	}
	return m.array(arrays, func() (any, error) { return m.element(t.Elem, sizes, low, high) })
}

func (m *maker) array(dims []int, element func() (any, error)) (any, error) {
	if len(dims) == 0 {
		return element()
	}
	out := make([]any, dims[0])
	for i := range out {
		v, err := m.array(dims[1:], element)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// element simulates a value of a type that is not an array.
func (m *maker) element(kind string, sizes []int, low, high float64) (any, error) {
	n := func(i int) int {
		if i < len(sizes) {
			return sizes[i]
		}
		return sizes[len(sizes)-1]
	}
	switch kind {
	case "int":
		return m.whole(low, high), nil
	case "real":
		return m.real(low, high), nil
	case "vector", "row_vector":
		return m.vector(n(0), low, high), nil
	case "matrix":
		rows := make([]any, n(0))
		for i := range rows {
			rows[i] = m.vector(n(1), low, high)
		}
		return rows, nil
	}
	if k, _, ok := types.ConstrainedType(kind); ok {
		return m.constrained(k, sizes), nil
	}
	return nil, fmt.Errorf("give values of the type %s yourself", kind)
}

// whole simulates an integer. Integers without an upper bound are counts.
func (m *maker) whole(low, high float64) int64 {
	switch {
	case !math.IsInf(low, 0) && !math.IsInf(high, 0):
		return int64(low) + m.rng.Int64N(max(1, int64(high)-int64(low)+1))
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		low = 0
	case math.IsInf(low, 0):
		return int64(high) - m.rng.Int64N(10)
	}
	return int64(low) + m.rng.Int64N(10)
}

func (m *maker) real(low, high float64) float64 {
	switch below, above := math.IsInf(low, 0), math.IsInf(high, 0); {
	case below && above:
		return round(m.rng.NormFloat64())
	case below:
		return round(high - math.Exp(m.rng.NormFloat64()/2))
	case above:
		return round(low + math.Exp(m.rng.NormFloat64()/2))
	}
	return min(max(round(low+(high-low)*m.rng.Float64()), low), high)
}

// round rounds to three decimals, so that the text is readable.
func round(x float64) float64 { return math.Round(x*1000) / 1000 }

func (m *maker) vector(n int, low, high float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = m.real(low, high)
	}
	return out
}

// constrained simulates a value of a constrained type.
func (m *maker) constrained(k types.ConstraintKind, sizes []int) any {
	matrix := k.Type().Rank() == 2
	if matrix && len(sizes) == 1 {
		sizes = []int{sizes[0], sizes[0]}
	}
	size := 1
	for _, n := range sizes {
		size *= n
	}
	low, _ := k.Range()
	if low < 0 {
		low = math.Inf(-1)
	}
	x := m.vector(size, low, math.Inf(1))
	k.Example(sizes, x)
	if !matrix {
		return x
	}
	rows := make([]any, sizes[0])
	for i := range rows {
		rows[i] = x[i*sizes[1] : (i+1)*sizes[1]]
	}
	return rows
}

// size evaluates an expression for a size.
func (m *maker) size(x ast.Expr) (int, error) {
	v, err := m.number(x)
	if err != nil {
		return 0, err
	}
	if v < 0 || v > maxGenerated || v != math.Trunc(v) {
		return 0, fmt.Errorf("%s is %g, which is not a size", x.Span().Text(), v)
	}
	return int(v), nil
}

// number evaluates an expression of literals and scalar data.
func (m *maker) number(x ast.Expr) (float64, error) {
	n, ok := m.info.Number(x, func(v *ast.VarExpr) (check.Number, bool) {
		n, ok := m.numbers[v.Name]
		return n, ok
	})
	if !ok {
		return 0, fmt.Errorf("%s is not known here; give the data it depends on, or the variable itself", x.Span().Text())
	}
	return n.Val, nil
}
