package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/compile/internal/marginal"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
)

// Impossible reports the first statement of the model that fails at every point: arguments that
// depend on data alone are outside its domain, or its log density is -Inf. The error is nil if
// there is no such statement. Only statements that a graph can hold are examined. For an
// interpreted log density, statements that need the interpreter are left out, and those that depend
// on them.
//
// Bind does not report it: a program without any possible point can still be evaluated.
func (m *Model) Impossible() error {
	if m.impossible == nil { // a nil *Error is not a nil error
		return nil
	}
	return m.impossible
}

// impossible finds the error that Impossible reports. It examines the graph as it was bound, in
// which all values that depend on data alone are constants.
func impossible(b *bind.Bound, set *data.Set) *Error {
	g := b.Density
	if g == nil {
		g = b.Part
	}
	if g == nil {
		return nil
	}
	for _, r := range g.SideEffects {
		n := &g.Nodes[r]
		if n.Op == ad.OpPrint {
			continue
		}
		var types []ad.Type
		var args [][]float64
		for _, a := range n.Args {
			v, ok := g.Value(a)
			if !ok {
				break
			}
			types, args = append(types, g.Nodes[a].Type), append(args, v)
		}
		if len(args) < len(n.Args) {
			continue
		}
		// A sum over a count that needs more values has them at another level.
		if err := ad.RunEffect(n, types, args, nil); err != nil && !marginal.Beyond(err.Error()) {
			return ruledOut(b, set, n.Site, err.Error(), found(b, set, n, args))
		}
	}
	if r, ok := negativeInfinity(g, g.Outputs[0]); ok {
		return ruledOut(b, set, g.Nodes[r].Site, "the log density of this statement is -Inf", nil)
	}
	return nil
}

// ruledOut returns the error about a statement.
func ruledOut(b *bind.Bound, set *data.Set, site ad.Site, reason string, values []datum) *Error {
	at, function := b.At(site)
	if function != "" {
		reason = function + ": " + reason
	}
	d := diag.Errorf(diag.Impossible, at, "with these data no values of the parameters are possible: %s", reason)
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprintf("`%s` is %s", v.path, ad.FormatNumber(v.value)))
		if at := set.Span(v.name, v.element); at.IsValid() {
			d.Related = append(d.Related, diag.Note{Span: at, Message: "`" + v.path + "` is given here"})
		}
	}
	if len(texts) > 0 {
		d.Detail = strings.Join(texts, ", ") + " in the data."
	}
	d.Fix = "correct the data, or the statement"
	return &Error{List: diag.List{d}}
}

// datum is an element of a data variable.
type datum struct {
	name, path string
	element    int
	value      float64
}

// found finds the data on which a check failed. It looks for an array of the data block with
// exactly the numbers of an argument. If the argument is a single number, it looks for an array
// that the statement names and that contains the number once.
func found(b *bind.Bound, set *data.Set, n *ad.Node, args [][]float64) []datum {
	at, among := -1, args[:1]
	switch attr := n.Attr.(type) {
	case *ad.Check:
		at = slices.IndexFunc(args[0], func(x float64) bool { return !attr.Set.Contains(x) })
	case *ad.Message:
		if among = args[1:]; attr.Where == nil || len(among) < 2 {
			return nil
		}
		x, y := among[0], among[1]
		for i := range max(len(x), len(y)) {
			if len(x) > 0 && len(y) > 0 && attr.Where(x[i%len(x)], y[i%len(y)]) {
				at = i
				break
			}
		}
		among = among[:2]
	}
	if at < 0 {
		return nil
	}
	statement := ""
	if b.Sites[n.Site].IsValid() {
		statement = b.Sites[n.Site].Text()
	}
	var all []datum
	for _, arg := range among {
		var equal []datum
		b.Known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
			element := -1
			switch {
			case len(shape) != 1:
			case len(arg) > 1 && at < len(arg) && hasNumbers(arg, ints, reals):
				element = at
			case len(arg) == 1 && mentions(statement, v.Name): // the surrounding loop was unrolled
				element = only(arg[0], ints, reals)
			}
			if _, given := set.Get(v.Name); given && element >= 0 {
				equal = append(equal, datum{v.Name, set.Path(v.Name, element), element, arg[at%len(arg)]})
			}
		})
		if len(equal) == 1 && !slices.Contains(all, equal[0]) {
			all = append(all, equal[0])
		}
	}
	return all
}

// mentions reports whether a name is among the words of a statement.
func mentions(statement, name string) bool {
	return slices.Contains(strings.FieldsFunc(statement, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), name)
}

// only returns the index of x among the numbers, or -1 if they do not contain it exactly once.
func only(x float64, ints []int64, reals []float64) int {
	at := -1
	for i := range max(len(ints), len(reals)) {
		if i < len(ints) && float64(ints[i]) != x || len(ints) == 0 && reals[i] != x {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// hasNumbers reports whether a variable, given by ints or reals, has the numbers x.
func hasNumbers(x []float64, ints []int64, reals []float64) bool {
	if len(ints) == len(x) {
		for i, v := range ints {
			if float64(v) != x[i] {
				return false
			}
		}
		return true
	}
	return slices.Equal(x, reals)
}

// negativeInfinity finds a term of a sum that is constant and -Inf.
func negativeInfinity(g *ad.Graph, r ad.Ref) (ad.Ref, bool) {
	// Sums are long chains, so todo holds the remaining terms instead of the call stack.
	for todo := []ad.Ref{r}; len(todo) > 0; {
		r, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if v, ok := g.Value(r); ok && slices.ContainsFunc(v, func(x float64) bool { return math.IsInf(x, -1) }) {
			return r, true
		}
		if n := &g.Nodes[r]; n.Op == ad.OpAdd || n.Op == ad.OpScatter {
			todo = append(todo, n.Args...)
		}
	}
	return ad.None, false
}
