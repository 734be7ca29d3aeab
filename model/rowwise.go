package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file checks that a model for new rows means what the fit means. The summaries that package
// predict recognises are known by their form. The check knows no forms: it computes the log
// likelihood of the fit's first rows, as the fit does and in the model for new rows after the rows
// behind them have changed. Both must agree. Later rows may depend on earlier ones, as in a time
// series.

// TogetherError says that the distribution of a row depends on later rows of the data, in a way of
// which the value in the fit cannot be kept.
type TogetherError struct {
	Variable string
	Row      int // from 1
}

// Error implements error.
func (e *TogetherError) Error() string {
	return fmt.Sprintf("the distribution of %s[%d] depends on other rows of the data: the model computes something from several rows, which has another value in new data than in the fit, and which ppl cannot keep",
		e.Variable, e.Row)
}

// rowCheck compares log likelihoods of rows of a fit.
type rowCheck struct {
	ctx           context.Context
	bind          BindOptions
	model, kept   *Derived // log likelihoods of the fit's model, and of the model for new rows
	fitted        *data.Set
	rows          []string // the data with these rows
	size          string   // the variable with the number of rows
	n             int
	differ        []string // data with other values than in the fit
	points        [][]float64
	names         []string // of log likelihoods
	values        [][]float64
	variable, out string
}

// rowwise checks with, the model for new rows, before it is used. differ lists the data that have
// other values than in the fit. earlier is the variable of which some rows depend on earlier ones.
// What cannot be evaluated is not checked.
func (m *Model) rowwise(ctx context.Context, with *Model, fitted, keptData *data.Set, o predict.Options, differ []string, bind BindOptions) (earlier string, err error) {
	own, err := m.Derive(predict.LogLikelihood)
	if err != nil || m.program.Discrete() {
		return "", nil // such a model has no rows to compare: each may depend on others
	}
	kept, err := with.DeriveWith(predict.LogLikelihood, predict.Options{Fitted: o.Fitted})
	if err != nil {
		return "", nil
	}
	kept.fit = keptData
	bind.AllowImpossible, bind.NoPropto = true, true
	done := map[string]bool{}
	for _, out := range own.Outputs {
		from := out.Variable
		if !out.Data && len(out.From) > 0 {
			from = out.From[0]
		}
		rows := m.RowsOf(from)
		if out.Dims == 0 || rows == nil {
			continue
		}
		size, n, err := m.program.Rows(fitted, rows)
		if err != nil || n < 2 || done[size] || !slices.ContainsFunc(differ, func(name string) bool { return name == size || slices.Contains(rows, name) }) {
			continue
		}
		done[size] = true
		c := &rowCheck{
			ctx: ctx, bind: bind, model: own, kept: kept, fitted: fitted, rows: rows, size: size, n: n, differ: differ,
			variable: out.Variable, out: out.Name,
		}
		if !c.whole() {
			continue
		}
		if row := c.first(); row >= 0 {
			return "", &TogetherError{out.Variable, row + 1}
		}
		if earlier == "" && c.later() {
			earlier = out.Variable
		}
	}
	return earlier, ctx.Err()
}

// RowsOf lists the data variables whose first size is declared by the same variable as that of a
// data variable. It returns nil if that size is not a variable.
func (m *Model) RowsOf(name string) []string {
	if m.Err() != nil {
		return nil
	}
	size := func(v *ir.Var) *ir.Var {
		if len(v.Sizes) > 0 {
			if ref, ok := v.Sizes[0].(*ir.VarRef); ok {
				return ref.Var
			}
		}
		return nil
	}
	all := m.program.IR().Data
	i := slices.IndexFunc(all, func(v *ir.Var) bool { return v.Name == name })
	if i < 0 || size(all[i]) == nil {
		return nil
	}
	var names []string
	for _, v := range all {
		if size(v) == size(all[i]) {
			names = append(names, v.Name)
		}
	}
	return names
}

// whole computes the log likelihoods of the fit's model at some points.
func (c *rowCheck) whole() bool {
	p, err := c.model.BindContext(c.ctx, c.fitted, c.bind)
	if err != nil {
		return false
	}
	c.names = p.GeneratedNames()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		x := make([]float64, p.Dim())
		for i := range x {
			x[i] = 2*rng.Float64() - 1
		}
		at, err := p.Constrain(x)
		if err != nil {
			continue
		}
		c.points = append(c.points, at)
		c.values = append(c.values, generatedAt(p, x))
	}
	return len(c.points) > 0
}

// generatedAt returns the generated quantities at a point; nil if they cannot be computed.
func generatedAt(p *Posterior, x []float64) []float64 {
	dst := make([]float64, len(p.OutputNames()))
	if err := p.Generate(x, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
		return nil
	}
	return dst[len(dst)-len(p.GeneratedNames()):]
}

// first returns the first row of the fit whose distribution is another one if later rows change; -1
// if there is none. It changes all rows but the first, half of them, and the last alone: rows in
// order of their groups share no group with the other half.
func (c *rowCheck) first() int {
	for _, n := range slices.Compact([]int{1, c.n / 2, c.n - 1}) {
		if slices.Contains(c.differ, c.size) {
			if row, ok := c.compare(c.fitted.ChooseRows(c.rows, c.size, upTo(0, n)), 0, n); ok && row >= 0 {
				return row
			} else if ok {
				continue
			}
		}
		for _, r := range []int{0, n, c.n - 1} {
			if row, ok := c.compare(c.changed(n, c.n, r), 0, n); ok && row >= 0 {
				return row
			}
		}
	}
	return -1
}

// later reports whether the distribution of a row changes with earlier rows.
func (c *rowCheck) later() bool {
	if !slices.Contains(c.differ, c.size) {
		return false // these rows change with the data that are given
	}
	for _, n := range slices.Compact([]int{1, c.n / 2, c.n - 1}) {
		if row, ok := c.compare(c.fitted.ChooseRows(c.rows, c.size, upTo(n, c.n)), n, c.n); ok && row >= 0 {
			return true
		}
	}
	return false
}

// changed returns the data of the fit with row r in the place of rows from to to-1, in the
// variables that differ.
func (c *rowCheck) changed(from, to, r int) *data.Set {
	rows := upTo(0, c.n)
	for i := from; i < to; i++ {
		rows[i] = r
	}
	return c.fitted.With(func(name string, v data.Value) data.Value {
		if slices.Contains(c.rows, name) && (slices.Contains(c.differ, name) || slices.Contains(c.differ, c.size)) {
			return v.Rows(rows)
		}
		return v
	})
}

func upTo(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// compare returns the first of rows from to to-1 of the fit that has another log likelihood in
// other data, whose first row is row from if they have fewer rows; -1 if there is none. ok is false
// if nothing could be compared.
func (c *rowCheck) compare(values *data.Set, from, to int) (row int, ok bool) {
	p, err := c.kept.BindContext(c.ctx, values, c.bind)
	if err != nil {
		return -1, false
	}
	row = -1
	index := map[string]int{}
	for i, name := range p.GeneratedNames() {
		index[name] = i
	}
	for i, at := range c.points {
		x, err := p.UnconstrainValues(at)
		if err != nil {
			continue
		}
		got := generatedAt(p, x)
		if got == nil || c.values[i] == nil {
			continue
		}
		ok = true
		for k, name := range c.names {
			parts := strings.SplitN(name, ".", 3)
			var n int
			if len(parts) < 2 || parts[0] != c.out {
				continue
			}
			if _, err := fmt.Sscan(parts[1], &n); err != nil || n <= from || n > to {
				continue
			}
			parts[1] = fmt.Sprint(n - from)
			j, has := index[strings.Join(parts, ".")]
			if !has {
				return -1, false
			}
			v, w := got[j], c.values[i][k]
			if differs := math.Abs(v-w) > 1e-6*max(1, math.Abs(w)) || math.IsNaN(v) != math.IsNaN(w); differs && (row < 0 || n-1 < row) {
				row = n - 1
			}
		}
	}
	return row, ok
}
