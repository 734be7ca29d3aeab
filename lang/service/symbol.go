package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Symbol is what a name refers to: a variable, a function of the program, or a name of the library.
// One of these three fields is set.
type Symbol struct {
	Var     *check.Var
	Func    string // full name of a function of the program, such as foo_lpdf
	Library string // name as the library describes it

	Span source.Span // the name at the position, in its file
}

// symbolAt returns what the name at a position refers to; ok is false if there is no name, or if it
// refers to nothing.
func (s *Snapshot) symbolAt(f *source.File, offset int) (sym Symbol, ok bool) {
	at, placed := s.at(f, offset)
	if placed {
		if sym, ok := s.nodeSymbol(s.path(at)); ok {
			sym.Span = sym.Span.Origin()
			return sym, true
		}
	}
	// The tree may lack the statement, so look at the word alone.
	w := s.word(f, offset)
	name := w.Text()
	if name == "" || !placed {
		return sym, false
	}
	sym.Span = w
	for _, v := range s.visible(at) {
		if v.Name == name {
			sym.Var = v
			return sym, true
		}
	}
	if full := s.userFunction(name); full != "" {
		sym.Func = full
		return sym, true
	}
	if s.inLibrary(name) {
		sym.Library = name
		return sym, true
	}
	return sym, false
}

// nodeSymbol returns the symbol of the innermost node of a path.
func (s *Snapshot) nodeSymbol(path []ast.Node) (sym Symbol, ok bool) {
	if len(path) < 2 {
		return sym, false
	}
	n, parent := path[len(path)-1], path[len(path)-2]
	sym.Span = n.Span()
	switch n := n.(type) {
	case *ast.VarExpr:
		if v := s.Info.Uses[n]; v != nil {
			sym.Var = v
			return sym, true
		}
		if fn := s.Info.Functors[n]; fn != nil {
			sym.Func = fn.Name
			return sym, true
		}
	case *ast.Ident:
		switch p := parent.(type) {
		case *ast.FunctionDecl:
			sym.Func = p.Name.Name
			return sym, true
		case *ast.CallExpr, *ast.Tilde:
			return s.called(p, n)
		default:
			sym.Var = s.Info.Defs[parent]
			return sym, sym.Var != nil
		}
	}
	return sym, false
}

// called returns the symbol for the name in a call or a distribution statement.
func (s *Snapshot) called(call ast.Node, name *ast.Ident) (sym Symbol, ok bool) {
	sym.Span = name.Span()
	if c := s.Info.Calls[call]; c != nil && c.Func != nil {
		sym.Func = c.Func.Name
		return sym, true
	}
	full := name.Name
	if base, suffix := check.SplitSuffix(full); suffix == "_lupdf" || suffix == "_lupmf" {
		full = base + "_l" + suffix[3:]
	}
	if s.Info.Calls[call] == nil {
		if fn := s.userFunction(full); fn != "" {
			sym.Func = fn
			return sym, true
		}
	}
	sym.Library = full
	return sym, s.inLibrary(full)
}

// inLibrary reports whether the library describes a name: a function, or a distribution.
func (s *Snapshot) inLibrary(name string) bool {
	for _, suffix := range []string{"", "_lpdf", "_lpmf"} {
		if len(s.options.Library.Lookup(name+suffix)) > 0 {
			return true
		}
	}
	return false
}

// userFunction returns the full name of the program's function for a name: the name itself, or the
// density of a distribution; "" if there is no such function.
func (s *Snapshot) userFunction(name string) string {
	for _, f := range s.Info.Funcs {
		if f.Name == name || f.Name == name+"_lpdf" || f.Name == name+"_lpmf" {
			return f.Name
		}
	}
	return ""
}

// functions returns the program's functions with a name.
func (s *Snapshot) functions(name string) []*check.Func {
	var out []*check.Func
	for _, f := range s.Info.Funcs {
		if f.Name == name {
			out = append(out, f)
		}
	}
	return out
}

// Definition lists the declarations of the name at a position; a function may have several. It is
// nil for names of the library. On an #include line it is the file.
func (s *Snapshot) Definition(f *source.File, offset int) []source.Span {
	if t, ok := s.token(f, offset); ok && t.Kind == grammar.IncludeLine && s.options.Include != nil {
		if found, err := s.options.Include(includeName(t)); err == nil {
			return []source.Span{{File: found}}
		}
		return nil
	}
	sym, ok := s.symbolAt(f, offset)
	switch {
	case !ok:
	case sym.Var != nil:
		return []source.Span{sym.Var.Ident.Span().Origin()}
	case sym.Func != "":
		var out []source.Span
		for _, fn := range s.functions(sym.Func) {
			out = append(out, fn.Decl.Name.Span().Origin())
		}
		return out
	}
	return nil
}

// Reference is an occurrence of a name.
type Reference struct {
	Span        source.Span
	Declaration bool
	Written     bool // assigned to, or declared
}

// References returns all occurrences of the name at a position, in all files of the program, in
// order. A file that is included twice counts once.
func (s *Snapshot) References(f *source.File, offset int) []Reference {
	sym, ok := s.symbolAt(f, offset)
	if !ok {
		return nil
	}
	return s.references(sym)
}

func (s *Snapshot) references(sym Symbol) []Reference {
	var out []Reference
	seen := map[source.Span]bool{}
	add := func(r Reference) {
		r.Span = r.Span.Origin()
		if slices.Contains(s.files, r.Span.File) && !seen[r.Span] {
			seen[r.Span] = true
			out = append(out, r)
		}
	}
	var parents []ast.Node
	written := map[*ast.VarExpr]bool{}
	ast.Inspect(s.Tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Assign:
			for v := range ast.Targets(n.LHS) {
				written[v] = true
			}
		case *ast.VarExpr:
			if sym.Var != nil && s.Info.Uses[n] == sym.Var || sym.Func != "" && s.Info.Functors[n] != nil && s.Info.Functors[n].Name == sym.Func {
				add(Reference{Span: n.Span(), Written: written[n]})
			}
		case *ast.Ident:
			switch p := parents[len(parents)-1].(type) {
			case *ast.FunctionDecl:
				if sym.Func == n.Name {
					add(Reference{Span: n.Span(), Declaration: true, Written: true})
				}
			case *ast.CallExpr, *ast.Tilde:
				if is, ok := s.called(p, n); ok && sym.Var == nil && is.Func == sym.Func && is.Library == sym.Library {
					add(Reference{Span: n.Span()})
				}
			default:
				if sym.Var != nil && s.Info.Defs[p] == sym.Var {
					add(Reference{Span: n.Span(), Declaration: true, Written: true})
				}
			}
		}
		parents = append(parents, n)
		return true
	}, func(ast.Node) { parents = parents[:len(parents)-1] })
	sorting.Stable(out, func(a, b Reference) int {
		return cmp.Or(strings.Compare(a.Span.File.Name, b.Span.File.Name), a.Span.Start-b.Span.Start)
	})
	return out
}

// VariableAt returns the variable that the name at a position refers to; nil if it does not refer
// to a variable.
func (s *Snapshot) VariableAt(f *source.File, offset int) *check.Var {
	sym, _ := s.symbolAt(f, offset)
	return sym.Var
}
