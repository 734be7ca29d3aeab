package fit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Grown finds the parameters of p whose sizes differ from the fit, because the data of p have other
// rows or groups. If the size of a dimension is a number of levels, the first elements are those of
// the fit. In other dimensions, such as the number of rows, all elements are new. A size is a
// number of levels if it was counted as one, or if it is the upper bound of integers in the data.
// If ahead is positive, that many rows were added at the end, and dimensions that grow by ahead
// also keep the elements of the fit.
func Grown(p *model.Posterior, f *Fit, ahead int) ([]predict.Grown, error) {
	now, then := shapes(p.ParameterNames()), shapes(f.Draws.Names())
	program := p.Model().Program().IR()
	var out []predict.Grown
	for _, v := range program.Parameters {
		a, b := now[v.Name], then[v.Name]
		if v.Whole != nil || b == nil || slices.Equal(a, b) {
			continue
		}
		if len(a) != len(b) || len(a) != len(v.Sizes) {
			return nil, fmt.Errorf("%s has other dimensions than in the fit", v.Name)
		}
		g := predict.Grown{Name: v.Name, Shape: b}
		for d, size := range v.Sizes {
			switch {
			case a[d] == b[d]:
				g.Known = append(g.Known, -1)
			case ahead > 0 && a[d]-b[d] == ahead:
				g.Known = append(g.Known, b[d])
			case ahead > 0:
				return nil, fmt.Errorf("%w: %s grows by %d elements for %d rows, so which of them are new is not known", predict.ErrNoFuture, v.Name, a[d]-b[d], ahead)
			case levels(p, program, size):
				g.Known = append(g.Known, min(a[d], b[d]))
			default:
				g.Known = append(g.Known, 0)
			}
		}
		out = append(out, g)
	}
	return out, nil
}

// Redrawn describes parameters of a fit that are drawn anew from their distributions in the model,
// for [predict.Options]. The error names one that is no parameter of the program.
func Redrawn(f *Fit, program *ir.Program, names []string) ([]predict.Grown, error) {
	if err := f.Err(); err != nil || program == nil || len(names) == 0 {
		return nil, err
	}
	of := shapes(f.Draws.Names())
	var out []predict.Grown
	for _, name := range names {
		shape, drawn := of[name]
		if !drawn || !slices.ContainsFunc(program.Parameters, func(v *ir.Var) bool { return v.Name == name }) {
			return nil, fmt.Errorf("%s is no parameter of the model", name)
		}
		out = append(out, predict.Grown{Name: name, Shape: shape, Known: slices.Repeat([]int{-1}, len(shape)), Anew: true})
	}
	return out, nil
}

// shapes returns the shape of each variable, from the names of its elements.
func shapes(names []string) map[string][]int {
	out := map[string][]int{}
	for _, n := range names {
		base, rest, indexed := strings.Cut(n, ".")
		if !indexed {
			out[base] = []int{}
			continue
		}
		for d, text := range strings.Split(rest, ".") {
			i, err := strconv.Atoi(text)
			if err != nil {
				break
			}
			if d >= len(out[base]) {
				out[base] = append(out[base], 0)
			}
			out[base][d] = max(out[base][d], i)
		}
	}
	return out
}

// levels reports whether a size is the number of levels of a factor.
func levels(p *model.Posterior, program *ir.Program, size ir.Expr) bool {
	ref, ok := size.(*ir.VarRef)
	if !ok {
		return false
	}
	for _, c := range p.Data().Reading().Counts {
		if c.Name == ref.Var.Name {
			return c.Of != ""
		}
	}
	return slices.ContainsFunc(program.Data, func(v *ir.Var) bool {
		bound, ok := v.Constraint.Upper.(*ir.VarRef)
		return ok && bound.Var == ref.Var && len(v.Sizes) > 0
	})
}
