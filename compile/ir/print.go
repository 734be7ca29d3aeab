package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// String prints the program as indented text for readers and golden tests. It looks like the
// language, but shows what lowering made explicit. Variables are declared as name#ID with type and
// level; "'" marks level Param. Promotions are written as conversions such as real(n). A ~ after
// the name of a density means that constants are dropped.
func (p *Program) String() string {
	w := &printer{}
	for _, f := range p.Functions {
		w.function(f)
	}
	w.section("data", p.Data, nil)
	w.section("transformed data", nil, p.TransformedData)
	w.section("parameters", p.Parameters, nil)
	w.section("transformed parameters", nil, p.TransformedParameters)
	w.section("model", nil, p.Model)
	w.section("generated quantities", nil, p.GeneratedQuantities)
	return w.b.String()
}

type printer struct {
	b      strings.Builder
	indent int
}

func (w *printer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.indent))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// section prints a block unless it is empty.
func (w *printer) section(name string, vars []*Var, stmts []Stmt) {
	if len(vars)+len(stmts) == 0 {
		return
	}
	w.line("%s", name)
	w.indent++
	for _, v := range vars {
		w.line("%s", declaration(v))
	}
	w.stmts(stmts)
	w.indent--
}

func (w *printer) function(f *Function) {
	var ps []string
	for i, p := range f.Params {
		s := declaration(p)
		if f.DataOnly[i] {
			s = "data " + s
		}
		ps = append(ps, s)
	}
	w.line("function %s(%s) => %s", f.Name, strings.Join(ps, ", "), f.Result)
	w.indent++
	w.stmts(f.Body.Stmts)
	w.indent--
}

// declaration prints a variable with its type: y#3: array[N] vector<lower=0>[K].
func declaration(v *Var) string {
	t := v.Type
	n := min(t.Dims, len(v.Sizes))
	s := fmt.Sprintf("%s#%d: ", varName(v), v.ID)
	if v.Level == Param {
		s = fmt.Sprintf("%s#%d': ", varName(v), v.ID)
	}
	switch {
	case len(v.Sizes) < t.Rank(): // without sizes: an argument or loop variable
		return s + t.String()
	case n > 0:
		s += "array[" + exprs(v.Sizes[:n]) + "] "
	}
	t.Dims = 0
	c := v.Constraint
	lower, upper := "lower", "upper"
	switch c.Kind {
	case types.Unconstrained, types.LowerUpper:
		s += t.String()
	case types.OffsetMultiplier:
		s += t.String()
		lower, upper = "offset", "multiplier"
	default:
		s += c.Kind.String()
	}
	var bounds []string
	if c.Lower != nil {
		bounds = append(bounds, lower+"="+expr(c.Lower))
	}
	if c.Upper != nil {
		bounds = append(bounds, upper+"="+expr(c.Upper))
	}
	if bounds != nil {
		s += "<" + strings.Join(bounds, ", ") + ">"
	}
	if n < len(v.Sizes) {
		s += "[" + exprs(v.Sizes[n:]) + "]"
	}
	return s
}

func (w *printer) stmts(ss []Stmt) {
	for _, s := range ss {
		w.stmt(s)
	}
}

// nested prints the body of a control statement. Indentation replaces the braces of a block.
func (w *printer) nested(s Stmt) {
	w.indent++
	if b, ok := s.(*Block); ok {
		w.stmts(b.Stmts)
	} else {
		w.stmt(s)
	}
	w.indent--
}

func (w *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Declare:
		if s.Init == nil {
			w.line("%s", declaration(s.Var))
		} else {
			w.line("%s = %s", declaration(s.Var), expr(s.Init))
		}
	case *Unpack:
		var vs []string
		for _, v := range s.Vars {
			vs = append(vs, declaration(v))
		}
		w.line("%s = %s", strings.Join(vs, ", "), expr(s.Value))
	case *Assign:
		lhs := varName(s.Var) + indices(s.Indices)
		if s.Op == "" {
			w.line("%s = %s", lhs, expr(s.Value))
		} else {
			w.line("%s %s= %s as %s", lhs, s.Op, expr(s.Value), expr(s.Combine))
		}
	case *Target:
		if s.Jacobian {
			w.line("jacobian += %s", expr(s.Value))
		} else {
			w.line("target += %s", expr(s.Value))
		}
	case *Tilde:
		w.line("tilde %s", expr(s.Density))
	case *CallStmt:
		w.line("%s", expr(s.Call))
	case *For:
		w.line("for %s in %s:%s", declaration(s.Var), expr(s.From), expr(s.To))
		w.nested(s.Body)
	case *ForEach:
		w.line("for %s in %s", declaration(s.Var), expr(s.Over))
		w.nested(s.Body)
	case *While:
		w.line("while %s", expr(s.Cond))
		w.nested(s.Body)
	case *If:
		w.line("if %s", expr(s.Cond))
		w.nested(s.Then)
		if s.Else != nil {
			w.line("else")
			w.nested(s.Else)
		}
	case *Block:
		w.line("block")
		w.nested(s)
	case *Break:
		w.line("break")
	case *Continue:
		w.line("continue")
	case *Return:
		w.line("%s", strings.TrimSpace("return "+optional(s.Value)))
	case *Print:
		w.line("print(%s)", exprs(s.Args))
	case *Reject:
		name := "reject"
		if s.Fatal {
			name = "fatal_error"
		}
		w.line("%s(%s)", name, exprs(s.Args))
	default:
		w.line("?%T", s)
	}
}

func varName(v *Var) string {
	if v == nil {
		return "?"
	}
	return v.Name + [...]string{"", ".real", ".imag"}[v.Part]
}

func exprs(es []Expr) string {
	var out []string
	for _, e := range es {
		out = append(out, expr(e))
	}
	return strings.Join(out, ", ")
}

// optional prints an expression that may be absent.
func optional(e Expr) string {
	if e == nil {
		return ""
	}
	return expr(e)
}

func expr(e Expr) string {
	switch e := e.(type) {
	case nil:
		return "?"
	case *IntLit:
		return strconv.FormatInt(e.Value, 10)
	case *RealLit:
		s := strconv.FormatFloat(e.Value, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	case *StringLit:
		return strconv.Quote(e.Value)
	case *VarRef:
		return varName(e.Var)
	case *Operand:
		return "old"
	case *Call:
		return call(e)
	case *UserCall:
		return e.Func.Name + tildeMark(e.Propto) + "(" + exprs(e.Args) + ")"
	case *IndexExpr:
		return expr(e.X) + indices(e.Indices)
	case *Cond:
		return "(" + expr(e.Cond) + " ? " + expr(e.Then) + " : " + expr(e.Else) + ")"
	case *And:
		return "(" + expr(e.X) + " && " + expr(e.Y) + ")"
	case *Or:
		return "(" + expr(e.X) + " || " + expr(e.Y) + ")"
	case *ArrayLit:
		return "{" + exprs(e.Elems) + "}"
	case *RowVectorLit:
		return "[" + exprs(e.Elems) + "]"
	case *Promote:
		return e.Ty.Kind.String() + "(" + expr(e.X) + ")"
	case *Tuple:
		return "(" + exprs(e.Elems) + ")"
	case *Member:
		return expr(e.X) + "." + strconv.Itoa(e.I+1)
	case *TargetValue:
		return "target()"
	}
	return fmt.Sprintf("?%T", e)
}

// call prints operators between their operands, in parentheses.
func call(e *Call) string {
	if op, ok := strings.CutPrefix(e.Name, "operator"); ok {
		switch {
		case len(e.Args) == 2:
			return "(" + expr(e.Args[0]) + " " + op + " " + expr(e.Args[1]) + ")"
		case len(e.Args) == 1 && op == "'":
			return expr(e.Args[0]) + "'"
		case len(e.Args) == 1:
			return op + expr(e.Args[0])
		}
	}
	return e.Name + tildeMark(e.Propto) + "(" + exprs(e.Args) + ")"
}

func tildeMark(propto bool) string {
	if propto {
		return "~"
	}
	return ""
}

func indices(is []Index) string {
	if len(is) == 0 {
		return ""
	}
	var out []string
	for _, i := range is {
		switch i.Kind {
		case IndexSingle, IndexMulti:
			out = append(out, expr(i.A))
		case IndexRange:
			out = append(out, optional(i.A)+":"+optional(i.B))
		case IndexAll:
			out = append(out, ":")
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}
