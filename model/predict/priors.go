package predict

import (
	"math"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// Priors describes the distributions that a model gives to its parameters.
type Priors struct {
	// Without lists the parameters that have no prior density and are not bounded on both sides.
	// Only the data constrain them.
	Without []string

	// Logistic is set if the probabilities of observed categories are modelled on the logit scale,
	// where data may be separated completely.
	Logistic bool
}

// PriorsOf finds the parameters of a program that have no prior, because they are not in the
// variate of any density.
func PriorsOf(p *compile.Program) Priors {
	tree, info := p.Syntax()
	a := analyse(tree, info, nil)
	var out Priors
	with := map[*check.Var]bool{}
	variate := func(e ast.Expr, dist string) {
		if p := a.placeOf(e); p != nil && logistic[dist] {
			out.Logistic = true
		}
		a.reads(e, func(v *check.Var) bool {
			with[v] = true
			return false
		})
	}
	for _, s := range a.model {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Tilde:
				variate(n.Variate, n.Dist.Name)
			case *ast.CallExpr:
				if dist, ok := density(n.Func.Name); ok && len(n.Args) > 0 {
					variate(n.Args[0], dist)
				} else if strings.HasSuffix(n.Func.Name, "_lp") || info.Calls[n] != nil && info.Calls[n].Func != nil {
					for _, x := range n.Args { // assume that the function may be a density of any argument
						variate(x, "")
					}
				}
			}
			return true
		}, nil)
	}
	block := tree.Block(ast.Parameters)
	if block == nil {
		return out
	}
	for _, s := range block.Stmts {
		d, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		v := info.Defs[d]
		confined := false
		if v.Constraint.Structured() {
			lo, hi := v.Constraint.Range()
			confined = !math.IsInf(lo, -1) && !math.IsInf(hi, 1)
		}
		bounds := 0
		for _, b := range d.Type.Bounds {
			if b.Kind == "lower" || b.Kind == "upper" {
				bounds++
			}
		}
		if !with[v] && !confined && bounds < 2 {
			out.Without = append(out.Without, v.Name)
		}
	}
	return out
}

// logistic lists the distributions of categories whose arguments are logits.
var logistic = map[string]bool{
	"bernoulli_logit": true, "bernoulli_logit_glm": true, "binomial_logit": true, "binomial_logit_glm": true,
	"categorical_logit": true, "categorical_logit_glm": true, "ordered_logistic": true, "ordered_logistic_glm": true,
}
