package grammar

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// typeForm describes the allowed form of a type, which depends on its place.
type typeForm struct {
	unsized bool   // for an argument or the result of a function
	bounds  bool   // bounds and constrained types are allowed
	subject string // the subject of messages about forms that are not allowed
}

var (
	inSignature = typeForm{unsized: true, subject: "the signature of a function"}
	inLocal     = typeForm{subject: "a local variable"}
	inBlock     = typeForm{bounds: true}
)

// declPlace returns the allowed form of types in declarations.
func declPlace(sc scope) typeForm {
	if sc.nested || sc.block == ast.Model {
		return inLocal
	}
	return inBlock
}

// decl lowers a declaration to one VarDecl for each name.
func (l *lowerer) decl(sc scope, s *Stmt) []ast.Stmt {
	d := s.Decl
	typ := l.typeExpr(d.Type, declPlace(sc))
	var out []ast.Stmt
	for i, n := range d.Names {
		v := &ast.VarDecl{Type: typ, Name: l.declared(n.Name)}
		v.Base = l.base(typ.Pos.Start, end(&n.Tokens[len(n.Tokens)-1]))
		if i == len(d.Names)-1 {
			v.Pos.End = d.Semi.End
		}
		if n.Old != nil {
			v.Type = l.oldArray(typ, n.Old, n.Name.Tok.Value, len(d.Names) == 1)
		}
		if n.Init != nil {
			v.Init = l.expr(n.Init)
			if !sc.nested && (sc.block == ast.Data || sc.block == ast.Parameters) {
				l.initNotAllowed(sc.block, v)
			}
		}
		out = append(out, v)
	}
	return out
}

func (l *lowerer) initNotAllowed(block ast.BlockKind, v *ast.VarDecl) {
	d := l.add(diag.InitNotAllowed, v.Init.Span(), "a variable of the `%s` block is not given a value", block)
	if block == ast.Data {
		d.Detail = "Its value comes from the data."
		d.Fix = "remove the value, or declare `" + v.Name.Name + "` in `transformed data`"
	} else {
		d.Detail = "Its values are what the sampler draws."
		d.Fix = "remove the value, or declare `" + v.Name.Name + "` in `transformed parameters`"
	}
}

// funcDef lowers a function definition or forward declaration.
func (l *lowerer) funcDef(f *FuncDef) ast.Stmt {
	out := &ast.FunctionDecl{Base: l.tokensBase(f.Tokens)}
	if f.Void {
		out.Result = &ast.TypeExpr{Base: ast.Base{Pos: spanOf(l, f.Tokens[0])}, Unsized: true, Elem: "void"}
	} else {
		out.Result = l.typeExpr(f.Result, inSignature)
	}
	out.Name = l.declared(f.Name)
	for _, p := range f.Params {
		param := &ast.Param{Base: l.tokensBase(p.Tokens), DataOnly: p.Data, Type: l.typeExpr(p.Type, inSignature), Name: l.declared(p.Name)}
		if p.Old != nil {
			param.Type = l.oldArray(param.Type, p.Old, p.Name.Tok.Value, true)
		}
		out.Params = append(out.Params, param)
	}
	if f.Body != nil {
		out.Body = l.nested(scope{block: ast.Functions}, f.Body)
	}
	return out
}

// typeExpr lowers a type and checks its form.
func (l *lowerer) typeExpr(t *Type, p typeForm) *ast.TypeExpr {
	e := t.elem()
	out := &ast.TypeExpr{Base: l.tokensBase(t.Tokens), Unsized: p.unsized, Elem: e.Name}
	if t.Array != nil {
		out.ArrayDims = l.arrayDims(t.Array, p)
	}
	if e.Members != nil {
		out.Elem = "tuple"
		for _, m := range e.Members {
			out.Members = append(out.Members, l.typeExpr(m, p))
		}
		return out
	}
	rule, name := typeNames[e.Name], spanOf(l, e.Tokens[0])
	if !p.bounds {
		switch {
		case !rule.basic:
			d := l.add(diag.BoundNotAllowed, name, "%s cannot have the constrained type `%s`", p.subject, e.Name)
			d.Detail = "Constraints belong to the variables declared directly in a block other than `model`."
			d.Fix = "write `vector`"
			if rule.square || rule.maxSizes == 2 {
				d.Fix = "write `matrix`"
			}
		case e.Bounds != nil:
			span := source.Join(l.tokensBase(e.Bounds[0].Tokens).Pos, l.tokensBase(e.Bounds[len(e.Bounds)-1].Tokens).Pos)
			d := l.add(diag.BoundNotAllowed, span, "%s cannot have bounds", p.subject)
			d.Detail = "Bounds belong to the variables declared directly in a block other than `model`."
			d.Fix = "remove the bounds"
		}
	}
	out.Bounds = l.bounds(e, rule)
	l.sizes(e, rule, p, out)
	return out
}

// arrayDims lowers the sizes of array[…].
func (l *lowerer) arrayDims(s *Sizes, p typeForm) []ast.Expr {
	out := make([]ast.Expr, len(s.List))
	for i, e := range s.List {
		if e != nil {
			out[i] = l.expr(e)
		}
		switch span := l.span(s.Start, s.End); {
		case p.unsized && e != nil:
			d := l.add(diag.BadSize, out[i].Span(), "%s cannot have sizes", p.subject)
			brackets := "[" + strings.Repeat(",", len(s.List)-1) + "]"
			d.Fix = "write `array" + brackets + "`"
			d.Edits = []diag.Edit{{Span: l.span(s.Start, s.End), Text: brackets}}
			return make([]ast.Expr, len(s.List))
		case !p.unsized && e == nil:
			l.add(diag.BadSize, span, "a variable needs the size of every array dimension").Fix = "write `array[N]` with the size"
			return out
		}
	}
	return out
}

// sizes lowers the sizes of a vector or matrix type.
func (l *lowerer) sizes(t *Elem, rule typeRule, p typeForm, out *ast.TypeExpr) {
	if t.Sizes == nil {
		if rule.minSizes > 0 && !p.unsized {
			fix := "write `" + t.Name + "[N]` with the size"
			if rule.minSizes == 2 {
				fix = "write `" + t.Name + "[M, N]` with the sizes"
			}
			l.add(diag.BadSize, spanOf(l, t.Tokens[0]), "`%s` needs %s here", t.Name, plural(rule.minSizes, "a size", "two sizes")).Fix = fix
		}
		return
	}
	span := l.span(t.Sizes.Start, t.Sizes.End)
	n, missing := len(t.Sizes.List), 0
	for _, e := range t.Sizes.List {
		if e == nil {
			missing++
		} else {
			out.Sizes = append(out.Sizes, l.expr(e))
		}
	}
	switch {
	case rule.maxSizes == 0 || p.unsized && missing == n:
		// The array syntax of older versions: real[N] x or vector[] x.
		dims := strings.TrimSpace(l.file.Text[t.Sizes.Start:t.Sizes.End])
		report := l.add
		if p.unsized {
			dims = "[" + strings.Repeat(",", n-1) + "]"
			report = l.older
		}
		d := report(diag.OldArraySyntax, span, "sizes after `%s` do not make an array", t.Name)
		d.Fix = "write `array" + dims + " " + t.Name + "`"
		if t.Bounds == nil && len(out.ArrayDims) == 0 {
			d.Edits = []diag.Edit{{Span: l.span(t.Tokens[0].Pos.Offset, t.Sizes.End), Text: "array" + dims + " " + t.Name}}
		}
		out.Sizes = nil
		out.ArrayDims = append(out.ArrayDims, make([]ast.Expr, n)...)
	case p.unsized:
		d := l.add(diag.BadSize, span, "%s cannot have sizes", p.subject)
		d.Fix = "write `" + t.Name + "`"
		d.Edits = []diag.Edit{{Span: l.span(t.Tokens[0].Pos.Offset, t.Sizes.End), Text: t.Name}}
		out.Sizes = nil
	case missing > 0:
		l.add(diag.BadSize, span, "a size is missing").Fix = "write `" + t.Name + plural(rule.minSizes, "[N]`", "[M, N]`")
	case n < rule.minSizes || n > rule.maxSizes:
		d := l.add(diag.BadSize, span, "`%s` has %s, not %d", t.Name, plural(rule.maxSizes, "one size", "two sizes"), n)
		if n < rule.minSizes {
			d.Fix = "write `" + t.Name + "[M, N]`, or `vector[N]`"
		}
		if n > rule.maxSizes {
			d.Fix = "for an array, write `array[N] " + t.Name + "[…]`"
			if rule.square {
				d.Detail = "It is square: one size gives the number of rows and of columns."
				d.Fix = "write one size, as in `" + t.Name + "[K]`; for an array, write `array[N] " + t.Name + "[K]`"
			}
		}
	}
}

func plural(n int, one, two string) string {
	if n == 1 {
		return one
	}
	return two
}

// bounds lowers <…> and checks the names and their combination.
func (l *lowerer) bounds(t *Elem, rule typeRule) []ast.Bound {
	var out []ast.Bound
	seen := map[string]source.Span{}
	for _, b := range t.Bounds {
		base := l.tokensBase(b.Tokens)
		name := spanOf(l, b.Tokens[0])
		kind := b.Kind
		var value ast.Expr
		if b.Missing {
			kind = ast.Missing
		} else {
			value = l.expr(&b.Value.Expr)
		}
		out = append(out, ast.Bound{Base: base, Kind: kind, Value: value})
		prev, twice := seen[kind]
		switch {
		case b.Extra != nil:
			l.add(diag.BadBound, name, "`missing` has no value").Fix = "write `missing` alone"
			seen[kind] = name
			continue
		case b.Missing && !twice && !rule.lowerUpper:
			d := l.add(diag.MissingNotAllowed, name, "`%s` cannot have missing values", t.Name)
			d.Detail = "Its elements depend on each other, so that some of them alone cannot be parameters."
			d.Fix = "declare it without `missing`, and give complete data"
			continue
		case b.Missing && !twice:
			seen[kind] = name
			continue
		case !twice && rule.lowerUpper && slices.Contains(ast.Cuts(), kind):
		case !twice && kind == ast.Labels:
		case !slices.Contains(ast.BoundNames(), kind) && !b.Missing:
			d := l.add(diag.BadBound, name, "there is no bound called `%s`", b.Kind)
			d.Detail = "The bounds are lower, upper, offset and multiplier."
			if near := nearestBound(b.Kind); near != "" {
				d.Fix = "did you mean `" + near + "`?"
				d.Replace(near)
			}
		case twice:
			d := l.add(diag.BadBound, name, "`%s` is given twice", kind)
			d.Related = []diag.Note{{Span: prev, Message: "it is given here first"}}
			d.Fix = "remove one of the two"
		case !rule.lowerUpper:
			l.add(diag.BadBound, name, "`%s` cannot have bounds, since it is constrained already", t.Name).Fix = "remove the bounds"
		case !rule.offset && (b.Kind == "offset" || b.Kind == "multiplier"):
			l.add(diag.BadBound, name, "`%s` cannot have an offset or a multiplier", t.Name)
		case isShift(b.Kind) && (has(seen, "lower") || has(seen, "upper")), !isShift(b.Kind) && (has(seen, "offset") || has(seen, "multiplier")):
			l.add(diag.BadBound, name, "lower and upper cannot be combined with offset and multiplier")
		}
		seen[kind] = name
	}
	return out
}

func isShift(kind string) bool { return kind == "offset" || kind == "multiplier" }

func has(m map[string]source.Span, key string) bool { _, ok := m[key]; return ok }

// oldArray reports `real x[N]` and returns the type that was meant. If alone is set, the
// declaration has no other names.
func (l *lowerer) oldArray(t *ast.TypeExpr, old *Sizes, name string, alone bool) *ast.TypeExpr {
	text := l.file.Text
	dims := text[old.Start:old.End]
	if n := len(l.diags) - 1; n >= 0 && l.diags[n].Code == diag.BadSize && l.diags[n].Span.Start == t.Pos.Start && len(t.Sizes) == 0 && typeNames[t.Elem].minSizes > 0 {
		l.diags[n].Summary = "the size of a " + t.Elem + " comes before the name"
		l.diags[n].Span = l.span(old.Start, old.End)
		l.diags[n].Fix = "write `" + text[t.Pos.Start:t.Pos.End] + dims + " " + name + "`"
		if alone {
			l.diags[n].Edits = []diag.Edit{{Span: l.span(t.Pos.End, t.Pos.End), Text: dims}, {Span: l.span(old.Start, old.End)}}
		}
		return t
	}
	if !t.Unsized && slices.Contains(old.List, nil) {
		l.add(diag.BadSize, l.span(old.Start, old.End), "a variable needs the size of every array dimension").Fix = "write `array[N] " + text[t.Pos.Start:t.Pos.End] + " " + name + "` with the size"
		return t
	}
	d := l.older(diag.OldArraySyntax, l.span(old.Start, old.End), "sizes after the name do not make an array")
	if len(t.ArrayDims) == 0 {
		d.Fix = "write `array" + dims + " " + text[t.Pos.Start:t.Pos.End] + " " + name + "`"
		if at := t.Pos.Start; alone {
			d.Edits = []diag.Edit{{Span: l.span(at, at), Text: "array" + dims + " "}, {Span: l.span(old.Start, old.End)}}
		}
	} else {
		d.Fix = "write the sizes before the element type: `array[…]`"
	}
	out := *t
	out.Pos.End = old.End
	out.ArrayDims = nil
	for _, e := range old.List {
		var x ast.Expr
		if e != nil && !t.Unsized {
			x = l.expr(e)
		}
		out.ArrayDims = append(out.ArrayDims, x)
	}
	out.ArrayDims = append(out.ArrayDims, t.ArrayDims...)
	return &out
}
