package stdlib

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// DistributionSuffixes lists the suffixes in the names of the functions of a distribution.
var DistributionSuffixes = []string{"_lpdf", "_lpmf", "_lcdf", "_lccdf", "_cdf", "_rng", "_lcdf_unnorm", "_lccdf_unnorm"}

// Documented lists the functions for a name: the function itself, its operator, or the functions of
// the distribution; empty for an unknown name.
func (s *Signatures) Documented(name string) []string {
	for _, n := range []string{name, "operator" + name} {
		if len(s.Lookup(n)) > 0 {
			return []string{n}
		}
	}
	var names []string
	for _, suffix := range DistributionSuffixes {
		if len(s.Lookup(name+suffix)) > 0 {
			names = append(names, name+suffix)
		}
	}
	return names
}

// Describe returns the documentation of a function, operator or distribution; ok is false if there
// is no such name.
func (s *Signatures) Describe(name string) (types.Documentation, bool) {
	names := s.Documented(name)
	doc := types.Documentation{Name: name}
	for _, n := range names {
		doc.Functions = append(doc.Functions, s.function(n))
	}
	if d := s.distribution(name); d != nil {
		doc.Distribution = d.describe()
	}
	return doc, len(names) > 0
}

// distribution returns the declared distribution with that name, or with a function of that name;
// nil if there is none.
func (s *Signatures) distribution(name string) *Dist {
	for _, suffix := range append([]string{""}, "_lpdf", "_lpmf") {
		for _, o := range s.Lookup(name + suffix) {
			if f, ok := o.(*Func); ok && f.Dist != nil {
				return f.Dist
			}
		}
	}
	return nil
}

func (d *Dist) describe() *types.DistributionDoc {
	out := &types.DistributionDoc{Name: d.Name, Text: d.Doc, Discrete: d.Discrete, Formula: d.Formula, Mean: d.Mean, Variance: d.Variance, Source: d.Source()}
	add := func(name, is string, c types.Constraint) {
		if c.NaN {
			c = types.Constraint{}
		}
		out.Arguments = append(out.Arguments, types.ArgumentDoc{Name: name, Is: is, Must: c})
	}
	add("y", "random variable", d.Variate)
	for _, p := range d.Params {
		add(p.Name, strings.ToLower(p.Is), p.In)
	}
	return out
}

// function describes one function. Forms with the same text share one description.
func (s *Signatures) function(name string) types.FunctionDoc {
	out := types.FunctionDoc{Name: name}
	for _, o := range s.Lookup(name) {
		text := ""
		f, ok := o.(*Func)
		if w, written := o.(types.Written); written {
			text = w.Doc
		} else if ok {
			text = f.Doc
		} else if s, sparse := o.(types.SparseForm); sparse {
			text = s.Doc
		}
		i := slices.IndexFunc(out.Texts, func(t types.TextDoc) bool { return t.Text == text })
		if i < 0 {
			i = len(out.Texts)
			out.Texts = append(out.Texts, types.TextDoc{Text: text})
		}
		t := &out.Texts[i]
		t.Forms = append(t.Forms, o.String())
		if !ok || len(t.Examples) >= 2 {
			continue
		}
		if call, value, ok := f.Demonstration(); ok {
			example := call + "  =  " + value
			if f.Random {
				example += "    (one draw)"
			}
			t.Examples = append(t.Examples, example)
		}
	}
	for _, e := range Examples(name) { // shown with the first description
		line := e.Call + "  =  " + e.Value
		if e.Adds != "" {
			line += "    (adds " + e.Adds + " to the log density)"
		}
		out.Texts[0].Examples = append(append(out.Texts[0].Examples, e.Functions...), line)
	}
	return out
}
