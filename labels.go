package ppl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Labels say, for each quantity of [Fit.Names], what its indices stand for, where the
// data tell: theta[2] of a variable declared with the size J is that of school Bolton if
// J was counted as the levels of the column school, and Bolton the second of them.
// The texts of several indices are separated by commas; an index without a text is left out, and what has
// none at all is "". Nil if the data tell of no quantity.
func (f *Fit) Labels() []string {
	if f.missing() != nil {
		return nil
	}
	f.labelled.Do(func() { f.labels = f.makeLabels() })
	return f.labels
}

func (f *Fit) makeLabels() []string {
	var r data.Reading
	switch {
	case f.posterior != nil:
		r = f.posterior.values.Reading()
	case f.record != nil:
		r = data.Reading{Levels: f.record.Levels, Counts: data.ReadCounts(f.record.Counts)}
	}
	levels := map[string][]string{} // by the variable that counts them
	for _, c := range r.Counts {
		if l := r.Levels[c.Of]; c.Of != "" && l != nil {
			levels[c.Name] = l
		}
	}
	if len(levels) == 0 {
		return nil
	}
	m, err := f.Model()
	if err != nil {
		return nil
	}
	texts := levelsOfIndices(m.program.IR(), levels)
	if len(texts) == 0 {
		return nil
	}
	out := make([]string, len(f.Names()))
	for i, name := range f.Names() {
		base, indices, _ := strings.Cut(name, ".")
		var parts []string
		for k, index := range strings.Split(indices, ".") {
			n, err := strconv.Atoi(index)
			if by := texts[base]; err == nil && k < len(by) && n >= 1 && n <= len(by[k]) {
				parts = append(parts, by[k][n-1])
			}
		}
		out[i] = strings.Join(parts, ", ")
	}
	return out
}

// levelsOfIndices are the levels that the indices of variables stand for: of those whose sizes
// are counts of levels, by name and index; nil for other indices.
func levelsOfIndices(p *ir.Program, levels map[string][]string) map[string][][]string {
	out := map[string][][]string{}
	for _, v := range slices.Concat(p.Parameters, p.TransformedParameterVars, p.GeneratedQuantityVars) {
		if v.Whole != nil {
			continue // a member of a tuple, whose names have other places
		}
		by := make([][]string, len(v.Sizes))
		some := false
		for k, size := range v.Sizes {
			if ref, ok := size.(*ir.VarRef); ok && slices.Contains(p.Data, ref.Var) {
				by[k] = levels[ref.Var.Name]
				some = some || by[k] != nil
			}
		}
		if some {
			out[v.Name] = by
		}
	}
	return out
}
