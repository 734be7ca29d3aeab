package fit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/model"
)

// Labels returns the factor levels that the indices of quantities represent, if the data have them:
// one text for each quantity of [Fit.Names]. For instance, theta[2] has the label Bolton if theta
// has size J, J is the number of levels of the column school, and Bolton is the second level.
//
// The labels of several indices are separated by commas; those with commas are in quotes. An index
// without a label is left out. A quantity without labels has "". Labels is nil if no quantity has a
// label.
func (f *Fit) Labels() []string {
	if f.Err() != nil {
		return nil
	}
	f.labelled.Do(func() { f.labels = f.makeLabels() })
	return f.labels
}

func (f *Fit) makeLabels() []string {
	return labelsOf(f.Names(), f.VariableFactors())
}

// IndexFactors returns, for each variable of a program, the factors whose levels its indices
// represent, in the order of the indices; see [arrays.Factor].
func (f *Fit) IndexFactors(p *ir.Program) map[string][]arrays.Factor {
	if f.Err() != nil || p == nil {
		return nil
	}
	return factorsOfIndices(p, f.factors(), quantitiesOf(p))
}

// VariableFactors is [Fit.IndexFactors] for all quantities of the fit.
func (f *Fit) VariableFactors() map[string][]arrays.Factor {
	if f.Err() != nil {
		return nil
	}
	if f.indices != nil {
		return f.indices
	}
	m, err := f.Model()
	if err != nil {
		return nil
	}
	return f.IndexFactors(m.Program().IR())
}

// ValueLevels returns, for each variable whose upper bound is a number of levels, these levels. If
// it has integers from 1, they are the labels of its values.
func (f *Fit) ValueLevels() map[string][]string {
	m, err := f.Model()
	if f.Err() != nil || err != nil {
		return nil
	}
	p, factors, out := m.Program().IR(), f.factors(), map[string][]string{}
	for _, v := range quantitiesOf(p) {
		if ref, ok := v.Constraint.Upper.(*ir.VarRef); ok && slices.Contains(p.Data, ref.Var) {
			if by := factors[ref.Var.Name]; by.Levels != nil {
				out[v.Name] = by.Levels
			}
		}
	}
	return out
}

// PosteriorFactors is [Fit.IndexFactors] for the quantities of a posterior that is not sampled yet.
func PosteriorFactors(p *model.Posterior) map[string][]arrays.Factor {
	if p == nil {
		return nil
	}
	program := p.Model().Program().IR()
	return factorsOfIndices(program, factorsOf(p.Data().Reading()), quantitiesOf(program))
}

// factors returns the factors of the data, by the name of the variable that is the number of their
// levels.
func (f *Fit) factors() map[string]arrays.Factor {
	switch {
	case f.posterior != nil:
		return factorsOf(f.posterior.Data().Reading())
	case f.record != nil:
		return factorsOf(data.Reading{Levels: f.record.Levels, Counts: data.ReadCounts(f.record.Counts)})
	}
	return nil
}

func factorsOf(r data.Reading) map[string]arrays.Factor {
	out := map[string]arrays.Factor{}
	for _, c := range r.Counts {
		if l := r.Levels[c.Of]; c.Of != "" && l != nil {
			out[c.Name] = arrays.Factor{Name: c.Of, Levels: l}
		}
	}
	return out
}

// generatedFactors returns the factors of quantities generated at the draws of a fit. Where the
// data have no levels, it uses those of the fit if their number is the same.
func generatedFactors(p *model.Posterior, f *Fit) map[string][]arrays.Factor {
	factors := factorsOf(p.Data().Reading())
	for size, by := range f.factors() {
		v, ok := p.Data().Get(size)
		if _, own := factors[size]; !own && ok && len(v.Shape) == 0 && v.IsInt && len(v.Ints) == 1 && v.Ints[0] == int64(len(by.Levels)) {
			factors[size] = by
		}
	}
	program := p.Model().Program().IR()
	return factorsOfIndices(program, factors, quantitiesOf(program))
}

// labelsOf returns the labels of names; nil if there are none.
func labelsOf(names []string, by map[string][]arrays.Factor) []string {
	if len(by) == 0 {
		return nil
	}
	out := make([]string, len(names))
	for i, name := range names {
		variable, at, _ := arrays.ElementOf(name)
		var parts []string
		for k, own := range by[variable][:min(len(at), len(by[variable]))] {
			if n := at[k]; n >= 0 && n < len(own.Levels) {
				parts = append(parts, own.Levels[n])
			}
		}
		if len(parts) > 1 {
			for k, level := range parts {
				if strings.Contains(level, ",") {
					parts[k] = strconv.Quote(level)
				}
			}
		}
		out[i] = strings.Join(parts, ", ")
	}
	return out
}

// quantitiesOf returns the variables of which there are draws.
func quantitiesOf(p *ir.Program) []*ir.Var {
	return slices.Concat(p.Parameters, p.TransformedParameterVars, p.GeneratedQuantityVars)
}

// factorsOfIndices returns, for each of some variables, the factors whose levels its indices
// represent, in the order of the indices. An index whose size is not a number of levels has a
// factor with an empty name.
func factorsOfIndices(p *ir.Program, factors map[string]arrays.Factor, variables []*ir.Var) map[string][]arrays.Factor {
	out := map[string][]arrays.Factor{}
	if len(factors) == 0 {
		return out
	}
	for _, v := range variables {
		sizes := v.Sizes
		if v.Ragged != nil {
			sizes = v.Ragged.Sizes
		}
		by := make([]arrays.Factor, len(sizes))
		some := false
		for k, size := range sizes {
			if ref, ok := size.(*ir.VarRef); ok && ref.Var.Type.Rank() == 0 && slices.Contains(p.Data, ref.Var) { // sizes of rows are counted by a factor, too
				by[k] = factors[ref.Var.Name]
				some = some || by[k].Name != ""
			}
		}
		if some {
			if v.Ragged == nil && v.Type.Rank() == len(by)+1 { // a square matrix is declared with one size
				by = append(by, by[len(by)-1])
			}
			out[v.Name] = by
		}
	}
	return out
}
