package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/source"
)

// journal records how loops and branches were evaluated.
type journal struct {
	at    *context
	rep   *reporter
	stats Stats
}

// Plan describes how a loop is evaluated. An unrolled loop has a plan for each inner loop that its
// iterations run.
type Plan struct {
	Line       int    // line of the loop's body, or of the call if it is in a function of the library
	Function   string // that function, with the loop's line in it; "" for loops of the program
	Way        string // "nest", "carried", "unrolled" or "iterated"
	Iterations int    // over all lanes around; 0 if known only when the program runs
	Lanes      int    // number of lanes around the loop; 0 if there are none
	Parts      []PlanPart
	Why        []string // reasons why earlier ways were not possible
}

// PlanPart is a part of a nest that is evaluated together.
type PlanPart struct {
	Way        string // "lanes", "sum" or "recurrence"
	Iterations int
	Lines      []int    // lines of the statements
	Variables  []string // variables that a sum or a recurrence writes
}

// String returns the plan in a few lines.
func (p Plan) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "line %d: ", p.Line)
	if p.Function != "" {
		fmt.Fprintf(&s, "in %s, ", p.Function)
	}
	s.WriteString(p.Way)
	if p.Iterations > 0 {
		fmt.Fprintf(&s, ", %d iteration%s", p.Iterations, plural(p.Iterations))
	}
	if p.Lanes > 0 {
		fmt.Fprintf(&s, " in %d lane%s", p.Lanes, plural(p.Lanes))
	}
	for _, w := range p.Why {
		fmt.Fprintf(&s, "\n  not sooner: %s", w)
	}
	for _, x := range p.Parts {
		fmt.Fprintf(&s, "\n  %-10s %6d  line %s", x.Way, x.Iterations, strings.Trim(fmt.Sprint(x.Lines), "[]"))
		if len(x.Variables) > 0 {
			fmt.Fprintf(&s, ": %s", strings.Join(x.Variables, ", "))
		}
	}
	return s.String()
}

// keepPlan records the plan of a loop.
func (jn *journal) keepPlan(body source.Span, p Plan) {
	if len(jn.stats.Plans) >= mostPlans {
		return
	}
	p.Line, p.Function = jn.lineOf(body)
	if jn.at.axis != nil {
		p.Lanes = jn.at.axis.N
	}
	jn.stats.Plans = append(jn.stats.Plans, p)
}

// describe returns the plan of a nest.
func (n *nest) describe(lp *loop) Plan {
	p := Plan{Way: "nest", Iterations: n.Plan.Root.Axis.N, Why: lp.why}
	for _, g := range n.plan.Groups {
		x := PlanPart{Way: g.Kind.String(), Iterations: g.Units[0].Domain.N}
		if k := len(p.Parts) - 1; k < 0 || g.Kind != plan.Map || p.Parts[k].Way != x.Way || p.Parts[k].Iterations != x.Iterations {
			p.Parts = append(p.Parts, x)
		}
		part := &p.Parts[len(p.Parts)-1]
		for _, u := range n.unitsOf(g.Units) {
			for _, s := range u.Stmts {
				if line := s.Span().Begin().Line; !slices.Contains(part.Lines, line) {
					part.Lines = append(part.Lines, line)
				}
			}
			for _, h := range n.order {
				if h.ofUnit(u) != nil && g.Kind != plan.Map && !slices.Contains(part.Variables, h.c.name) {
					part.Variables = append(part.Variables, h.c.name)
				}
			}
		}
	}
	for k := range p.Parts {
		slices.Sort(p.Parts[k].Lines)
	}
	return p
}

// lineOf returns the line of a loop's body. For a loop in a function of the library it returns the
// line of the call, and the function with the line there.
func (jn *journal) lineOf(body source.Span) (line int, function string) {
	at, function := body.Called(jn.rep.entered)
	if function != "" {
		function = fmt.Sprintf("%s at its line %d", function, body.Begin().Line)
	}
	return at.Begin().Line, function
}

// instead returns advice on what to write instead of a loop that is slow for these reasons.
func instead(why []string) string {
	for _, w := range why {
		switch w {
		case plan.Irregular:
			return "let every iteration read values of the same numbers of iterations before; write sums over earlier values as a dot_product of slices, such as dot_product(b[1:q], reverse(x[(t - q):(t - 1)]))"
		case inspect.Jumps:
			return "let data decide the number of iterations, instead of leaving the loop where parameters say so"
		case inspect.TargetRead:
			return "read target() outside the loop"
		}
	}
	return "split the loop, so that what depends on earlier iterations has its own loop"
}

// slow records a loop that is evaluated step by step, if it changes arrays and has many iterations.
func (jn *journal) slow(lp *loop, cells []*cell, iterations int) {
	s := SlowLoop{Span: lp.Body.Span(), Iterations: iterations, Why: lp.why, Instead: instead(lp.why)}
	for _, c := range cells {
		if c.size > smallCarried {
			s.Variables = append(s.Variables, c.name)
		}
	}
	if len(s.Variables) > 0 && iterations >= minSlow && len(jn.stats.Slow) < maxSlow {
		jn.stats.Slow = append(jn.stats.Slow, s)
	}
}

// note records why a loop is not evaluated in a faster way.
func (jn *journal) note(lp *loop, why string) {
	if !slices.Contains(lp.why, why) {
		lp.why = append(lp.why, why)
	}
	if len(jn.stats.Notes) < 50 {
		line, _ := jn.lineOf(lp.Body.Span())
		jn.stats.Notes = append(jn.stats.Notes, fmt.Sprintf("line %d: %s", line, why))
	}
}
