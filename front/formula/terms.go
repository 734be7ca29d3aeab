package formula

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// variable is a variable in terms: a factor or a numeric variable.
type variable struct {
	key    string // its text in the formula without blanks
	name   string // in names of the program
	at     place
	factor *column // nil: numbers
	codes  []float64
	labels []string // names of the levels, for a factor
	arith  *arith
	values []float64 // value in each row, for a numeric variable
}

// term is an interaction of variables, by their indices in order. The empty one is the intercept.
type term []int

func (t term) equal(u term) bool { return slices.Equal(t, u) }

// without returns the term without a variable.
func (t term) without(v int) term {
	return slices.DeleteFunc(slices.Clone(t), func(x int) bool { return x == v })
}

// cross is the interaction of two terms.
func (t term) cross(u term) term {
	out := slices.Concat(t, u)
	slices.Sort(out)
	return slices.Compact(out)
}

// terms is a set of terms, ordered by their number of variables.
type terms struct {
	intercept bool
	list      []term
}

func (t *terms) has(u term) bool {
	return len(u) == 0 && t.intercept || slices.ContainsFunc(t.list, u.equal)
}

func (t *terms) add(list ...term) {
	for _, u := range list {
		if len(u) > 0 && !t.has(u) {
			t.list = append(t.list, u)
		}
	}
}

func (t *terms) order() {
	sorting.Stable(t.list, func(a, b term) int { return cmp.Compare(len(a), len(b)) })
}

// defaultCurves is the number of functions of s(x), with the constant and the line.
const defaultCurves = 10

// smooth is a smooth function of a numeric variable.
type smooth struct {
	of *variable
	k  int
}

// group has the terms that vary by group.
type group struct {
	by         []*column
	terms      terms
	correlated bool
	at         place
}

// spec is the meaning of a formula.
type spec struct {
	outcome   *column
	outcomeAt place
	computed  *arith // the outcome as I(…) of columns; nil: it is a column
	trials    *arith
	censored  *arith
	terms     terms
	offsets   []*arith
	smooths   []smooth
	groups    []*group
}

// builder reads a formula.
type builder struct {
	text  string
	table *table
	vars  []*variable
	spec  spec
}

// read reads the formula.
func (b *builder) read(t *tree) *Error {
	o := t.Outcome
	if o.Call != nil && o.Call.Name == "I" && len(o.Call.Args) == 1 {
		if err := b.computedOutcome(o.Call.Args[0].Value, o.at()); err != nil {
			return err
		}
	} else if o.Name == "" {
		fix := "let the left side be a column, or compute it as in I(end - start)"
		if o.Call != nil && o.Call.Name == "log" {
			fix = "write the column alone, with the family lognormal"
		}
		return errorf(o.at(), fix, "the outcome must be a column")
	}
	if b.spec.computed == nil {
		var err *Error
		if b.spec.outcome, err = b.table.column(o.Name, o.at()); err != nil {
			return err
		}
	}
	b.spec.outcomeAt = o.at()
	for _, x := range t.Extras {
		if err := b.extra(x); err != nil {
			return err
		}
	}
	b.spec.terms.intercept = true
	if err := b.sum(t.Terms, &b.spec.terms, true); err != nil {
		return err
	}
	b.spec.terms.order()
	for _, v := range b.vars {
		if v.factor == b.spec.outcome || v.arith != nil && v.arith.column == b.spec.outcome {
			return errorf(v.at, "leave it out", "the outcome %s cannot predict itself", b.spec.outcome.name)
		}
	}
	return nil
}

// computedOutcome reads an outcome that is computed from columns, such as end - start.
func (b *builder) computedOutcome(e *sum, at place) *Error {
	a, err := b.arith(e)
	if err != nil {
		return err
	}
	if !a.vector() {
		return errorf(at, "name a column in it", "the outcome is the same number in every row")
	}
	values, err := a.values(b.table.rows)
	if err != nil {
		return err
	}
	b.spec.computed, b.spec.outcome = a, &column{values: values}
	return nil
}

// extra reads the part of the outcome after a bar, such as trials(n).
func (b *builder) extra(x *atom) *Error {
	if x.Call == nil || len(x.Call.Args) != 1 || x.Call.Name != "trials" && x.Call.Name != "cens" {
		return errorf(x.at(), "write trials(n) or cens(censored)", "the outcome has no such property")
	}
	if x.Call.Name == "trials" {
		a, err := b.arith(x.Call.Args[0].Value)
		if err != nil {
			return err
		}
		if a.op != "" || a.column != nil && !a.column.isInt {
			return errorf(x.at(), "give a column of integers, or an integer", "trials need numbers of trials")
		}
		if a.column != nil {
			a.column.asInt = true
		}
		b.spec.trials = a
		return nil
	}
	s := x.Call.Args[0].Value
	if only := single(s); only != nil && only.Name != "" {
		c, err := b.table.column(only.Name, only.at())
		if err != nil {
			return err
		}
		c.asInt = true
		b.spec.censored = &arith{column: c, at: x.at()}
		return nil
	}
	a, err := b.arith(s)
	if err != nil {
		return err
	}
	if a.op != "-" || a.kids[0].number != 1 || a.kids[1].column == nil {
		return errorf(x.at(), "write cens(censored) or cens(1 - event)", "this does not say which rows are censored")
	}
	a.kids[1].column.asInt = true
	a.at = x.at()
	b.spec.censored = a
	return nil
}

// single returns the atom if a sum consists of only one, else nil.
func single(s *sum) *atom {
	if s.Sign != "" || len(s.Rest) > 0 {
		return nil
	}
	return s.First.single()
}

func (p *product) single() *atom {
	if len(p.Rest) > 0 || len(p.First.Of) > 1 || p.First.Of[0].Exp != nil {
		return nil
	}
	return p.First.Of[0].Base
}

// sum adds the terms of a sum to a set. whole is set for the population's terms: only these may
// have groups, offsets and smooth functions.
func (b *builder) sum(s *sum, into *terms, whole bool) *Error {
	parts := []*sumRest{{Op: s.Sign, X: s.First}}
	for _, p := range append(parts, s.Rest...) {
		only := p.X.single()
		switch {
		case only != nil && (only.Number == "0" || only.Number == "1"):
			into.intercept = (only.Number == "1") != (p.Op == "-")
			continue
		case only != nil && only.Number != "":
			return errorf(only.at(), "write 0 for no intercept, or I(…) for arithmetic", "%s is no term", only.Number)
		case only != nil && only.Name == ".":
			return errorf(only.at(), "write the columns that you mean", "there is no . for all columns")
		case only != nil && only.Group != nil && only.Group.Group != nil:
			if !whole || p.Op == "-" {
				return errorf(only.at(), "write groups as terms of the formula: y ~ x + (1 | group)", "a group cannot be here")
			}
			if err := b.group(only); err != nil {
				return err
			}
			continue
		case only != nil && only.Call != nil && (only.Call.Name == "offset" || only.Call.Name == "s"):
			if !whole || p.Op == "-" {
				return errorf(only.at(), "write it as a term of the formula: y ~ x + "+only.Call.Name+"(z)", "%s cannot be here", only.Call.Name)
			}
			if err := b.special(only); err != nil {
				return err
			}
			continue
		}
		list, err := b.product(p.X)
		if err != nil {
			return err
		}
		if p.Op != "-" {
			into.add(list...)
			continue
		}
		into.list = slices.DeleteFunc(into.list, func(t term) bool { return slices.ContainsFunc(list, t.equal) })
	}
	return nil
}

// product returns the terms of a product.
func (b *builder) product(p *product) ([]term, *Error) {
	left, err := b.inter(p.First)
	if err != nil {
		return nil, err
	}
	for _, r := range p.Rest {
		right, err := b.inter(r.X)
		if err != nil {
			return nil, err
		}
		if r.Op == "*" {
			left = slices.Concat(left, right, crossed(left, right))
			continue
		}
		all := term{}
		for _, t := range left {
			all = all.cross(t)
		}
		left = append(left, crossed([]term{all}, right)...)
	}
	return left, nil
}

func crossed(a, b []term) (out []term) {
	for _, t := range a {
		for _, u := range b {
			out = append(out, t.cross(u))
		}
	}
	return out
}

func (b *builder) inter(i *inter) (out []term, err *Error) {
	for k, p := range i.Of {
		list, err := b.power(p)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			out = list
		} else {
			out = crossed(out, list)
		}
	}
	return out, nil
}

func (b *builder) power(p *power) ([]term, *Error) {
	base, err := b.atom(p.Base)
	if err != nil || p.Exp == nil {
		return base, err
	}
	n, bad := strconv.Atoi(p.Exp.Number)
	if bad != nil || n < 1 || n > 5 || p.Base.Group == nil {
		return nil, errorf(place{p.Base.at().start, p.Exp.at().end}, "write I("+b.text[p.Base.at().start:p.Exp.at().end]+") for arithmetic, or (a + b)^2 for interactions of terms", "a power is for terms in parentheses")
	}
	out := base
	for range n - 1 {
		out = slices.Concat(out, crossed(out, base))
	}
	return out, nil
}

func (b *builder) atom(a *atom) ([]term, *Error) {
	switch {
	case a.Group != nil && a.Group.Group == nil:
		var t terms
		t.intercept = true
		err := b.sum(a.Group.Of, &t, false)
		return t.list, err
	case a.Group != nil:
		return nil, errorf(a.at(), "add it to the formula: + (1 | group)", "a group cannot be part of an interaction")
	case a.Name == "" && a.Call == nil:
		return nil, errorf(a.at(), "write I(…) for arithmetic", "this is no term")
	}
	v, err := b.variable(a)
	if err != nil {
		return nil, err
	}
	return []term{{v}}, nil
}

// variable returns the index of the variable that an atom represents.
func (b *builder) variable(a *atom) (int, *Error) {
	text := b.text[a.at().start:a.at().end]
	key := strings.Join(strings.Fields(text), "")
	if i := slices.IndexFunc(b.vars, func(v *variable) bool { return v.key == key }); i >= 0 {
		return i, nil
	}
	v := &variable{key: key, at: a.at(), name: data.ColumnName(strings.TrimPrefix(strings.Trim(key, "`"), "I("))}
	if a.Call != nil {
		switch a.Call.Name {
		case "factor", "as.factor":
			if only := single(a.Call.Args[0].Value); len(a.Call.Args) == 1 && only != nil && only.Name != "" {
				c, err := b.table.column(only.Name, only.at())
				if err != nil {
					return 0, err
				}
				v.factor, v.name = c, c.name
			}
		case "poly", "scale", "ns", "bs":
			return 0, errorf(a.at(), map[string]string{"poly": "write x + I(x^2)", "scale": "write I((x - 70) / 10), with numbers that you choose; the program centres columns"}[a.Call.Name]+map[bool]string{true: "write s(x)"}[a.Call.Name == "ns" || a.Call.Name == "bs"],
				"%s depends on all rows of the table, so it would mean something else for new data", a.Call.Name)
		}
	}
	if v.factor == nil && a.Name != "" {
		c, err := b.table.column(a.Name, a.at())
		if err != nil {
			return 0, err
		}
		if c.levels != nil {
			v.factor = c
		}
		v.name = c.name
	}
	if v.factor != nil {
		if err := b.factor(v); err != nil {
			return 0, err
		}
	} else {
		x, err := b.arithAtom(a)
		if err != nil {
			return 0, err
		}
		v.arith = x
		if v.values, err = x.values(b.table.rows); err != nil {
			return 0, err
		}
		if _, sd := moments(v.values); sd == 0 {
			return 0, errorf(a.at(), "leave it out", "%s is the same in every row: %s", key, short(v.values[0]))
		}
	}
	b.vars = append(b.vars, v)
	return len(b.vars) - 1, nil
}

// maxFactor is the maximum number of levels of a factor in the predictor.
const maxFactor = 200

// factor finds the levels of a factor.
func (b *builder) factor(v *variable) *Error {
	c := v.factor
	c.asInt = true
	v.codes = c.values
	if c.levels != nil {
		v.labels = c.levels
	} else if !c.isInt {
		return errorf(v.at, "use the numbers themselves, or write texts into the table", "%s has numbers that are no integers, so it is no factor", c.name)
	} else {
		codes := c.distinct()
		v.codes = make([]float64, len(c.values))
		for _, x := range codes {
			v.labels = append(v.labels, short(x))
		}
		for i, x := range c.values {
			k, _ := slices.BinarySearch(codes, x)
			v.codes[i] = float64(k + 1)
		}
	}
	switch n := len(v.labels); {
	case n < 2:
		return errorf(v.at, "leave it out", "%s has one level only: %s", c.name, listed(v.labels))
	case n > maxFactor:
		return errorf(v.at, "let it be a group: (1 | "+c.name+")", "%s has %d levels, too many for a predictor", c.name, n)
	}
	return nil
}

// special reads an offset or a smooth function.
func (b *builder) special(a *atom) *Error {
	args := a.Call.Args
	if len(args) == 0 || args[0].Name != "" {
		return errorf(a.at(), "write "+a.Call.Name+"(x)", "%s needs a column", a.Call.Name)
	}
	if a.Call.Name == "offset" {
		x, err := b.arith(args[0].Value)
		if err == nil && len(args) > 1 {
			err = errorf(a.at(), "write one sum", "offset takes one argument")
		}
		if err == nil {
			_, err = x.values(b.table.rows)
		}
		b.spec.offsets = append(b.spec.offsets, x)
		return err
	}
	only := single(args[0].Value)
	if only == nil || only.Name == "" && only.Call == nil {
		return errorf(a.at(), "write s(x), or s(log(x))", "s needs one column or function of it")
	}
	i, err := b.variable(only)
	if err != nil {
		return err
	}
	v := b.vars[i]
	if v.factor != nil {
		return errorf(only.at(), "add the factor as a term", "s is for numbers, and %s is a factor", v.key)
	}
	s := smooth{of: v, k: defaultCurves}
	for _, x := range args[1:] {
		var n *atom
		if n = single(x.Value); x.Name != "k" || n == nil || n.Number == "" {
			return errorf(a.at(), "write s(x) or s(x, k = 10)", "s has no such option")
		}
		s.k, _ = strconv.Atoi(n.Number)
	}
	distinct := slices.Clone(v.values)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if s.k < 3 || s.k > 100 {
		return errorf(a.at(), "choose k between 3 and 100", "s cannot have %d functions", s.k)
	}
	if len(distinct) < 4 {
		return errorf(a.at(), "write the column alone, or as factor("+v.key+")", "%s has %d different values only, too few for a smooth function", v.key, len(distinct))
	}
	s.k = min(s.k, len(distinct))
	b.spec.smooths = append(b.spec.smooths, s)
	b.spec.terms.add(term{i})
	return nil
}

// group reads terms that vary by group. a/b means a and a:b.
func (b *builder) group(a *atom) *Error {
	g := a.Group.Group
	bad := errorf(g.at(), "write a column, a:b or a/b", "this is no group")
	if g.Sign != "" || len(g.Rest) > 0 {
		return bad
	}
	list := [][]*column{}
	var outer []*column
	nested := append([]*productRest{{Op: "/", X: g.First.First}}, g.First.Rest...)
	for _, p := range nested {
		if p.Op != "/" {
			return bad
		}
		for _, of := range p.X.Of {
			if of.Exp != nil || of.Base.Name == "" {
				return bad
			}
			c, err := b.table.column(of.Base.Name, of.Base.at())
			if err != nil {
				return err
			}
			if err := groupable(c, of.Base.at()); err != nil {
				return err
			}
			c.asInt = true
			if !slices.Contains(outer, c) {
				outer = append(outer, c)
			}
		}
		list = append(list, slices.Clone(outer))
	}
	for _, by := range list {
		if slices.Contains(by, b.spec.outcome) {
			return errorf(g.at(), "leave it out", "the outcome cannot group rows")
		}
		n := &group{by: by, correlated: a.Group.By == "|", at: a.at()}
		n.terms.intercept = true
		if err := b.sum(a.Group.Of, &n.terms, false); err != nil {
			return err
		}
		n.terms.order()
		if !n.terms.intercept && len(n.terms.list) == 0 {
			return errorf(a.at(), "write (1 | group)", "nothing varies by group here")
		}
		b.spec.groups = append(b.spec.groups, n)
	}
	return nil
}

// groupable returns an error if a column cannot define groups.
func groupable(c *column, at place) *Error {
	if c.levels == nil && !c.isInt {
		return errorf(at, "write texts into the table, such as a, b, c", "%s has numbers that are no integers", c.name)
	}
	distinct := c.distinct()
	n := len(distinct)
	switch {
	case n < 2:
		return errorf(at, "leave the group out", "all rows are in the same group of %s", c.name)
	case c.levels == nil && distinct[0] < 1, c.levels == nil && distinct[n-1] > float64(2*n+10):
		return errorf(at, "number the groups from 1, or write texts, such as g"+short(distinct[0]), "the groups of %s have the numbers %s to %s, but there are %d", c.name, short(distinct[0]), short(distinct[n-1]), n)
	}
	return nil
}
