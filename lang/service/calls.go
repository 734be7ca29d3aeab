package service

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// Call is a function of the program, or a block, in a list of callers or callees. Places are where
// a function is called: in a list of callers, the calls of the function asked about that it
// contains; in a list of callees, the calls of it in the function asked about.
type Call struct {
	Outline
	Places []source.Span // names in calls, in the file asked about or in that of the outline
}

// FunctionsAt returns the declarations of the program's function whose name is at a place. A
// function has several declarations if it is overloaded, or declared before it is defined.
func (s *Snapshot) FunctionsAt(f *source.File, offset int) []Outline {
	sym, ok := s.symbolAt(f, offset)
	if !ok || sym.Func == "" {
		return nil
	}
	return s.declared(sym.Func)
}

// declared returns the outlines of all functions of the program with this name.
func (s *Snapshot) declared(name string) []Outline {
	var out []Outline
	for _, fn := range s.functions(name) {
		file := fn.Decl.Name.Span().Origin().File
		if o, ok := outlined(fn.Decl, file); ok {
			out = append(out, o)
		}
	}
	return out
}

// Callers lists the functions and blocks that call the function whose name is at a place.
func (s *Snapshot) Callers(f *source.File, offset int) []Call {
	sym, ok := s.symbolAt(f, offset)
	if !ok || sym.Func == "" {
		return nil
	}
	var out []Call
	for _, b := range s.Tree.Blocks {
		for _, st := range b.Stmts {
			places := s.callsOf(st, sym.Func)
			if places == nil {
				continue
			}
			if fn, ok := st.(*ast.FunctionDecl); ok {
				if o, ok := outlined(fn, fn.Name.Span().Origin().File); ok {
					out = append(out, Call{o, places})
				}
				continue
			}
			if n := len(out); n > 0 && out[n-1].Kind == OutlineBlock && out[n-1].Name == b.Kind.String() {
				out[n-1].Places = append(out[n-1].Places, places...)
				continue
			}
			begin := source.Span{File: b.Pos.File, Start: b.Pos.Start, End: b.Pos.Start + 1}.Origin()
			head := source.Span{File: begin.File, Start: begin.Start, End: min(begin.Start+len(b.Kind.String()), len(begin.File.Text))}
			out = append(out, Call{Outline{Kind: OutlineBlock, Name: b.Kind.String(), Span: head, Head: head}, places})
		}
	}
	return out
}

// callsOf returns the places in a statement where a function of the program is called or passed.
func (s *Snapshot) callsOf(st ast.Stmt, name string) []source.Span {
	var out []source.Span
	s.eachCall(st, func(called string, at source.Span) {
		if called == name {
			out = append(out, at)
		}
	})
	return out
}

// eachCall goes through the calls of the program's functions in a statement.
func (s *Snapshot) eachCall(st ast.Stmt, visit func(name string, at source.Span)) {
	var parents []ast.Node
	ast.Inspect(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarExpr:
			if fn := s.Info.Functors[n]; fn != nil {
				visit(fn.Name, n.Span().Origin())
			}
		case *ast.Ident:
			if len(parents) == 0 {
				break
			}
			switch p := parents[len(parents)-1].(type) {
			case *ast.CallExpr, *ast.Tilde:
				if sym, ok := s.called(p, n); ok && sym.Func != "" {
					visit(sym.Func, n.Span().Origin())
				}
			}
		}
		parents = append(parents, n)
		return true
	}, func(ast.Node) { parents = parents[:len(parents)-1] })
}

// Callees lists the functions of the program that the function whose name is at a place calls. The
// places of a call are in the file of that function.
func (s *Snapshot) Callees(f *source.File, offset int) []Call {
	sym, ok := s.symbolAt(f, offset)
	if !ok || sym.Func == "" {
		return nil
	}
	var names []string
	places := map[string][]source.Span{}
	for _, fn := range s.functions(sym.Func) {
		s.eachCall(fn.Decl, func(name string, at source.Span) {
			if places[name] == nil {
				names = append(names, name)
			}
			places[name] = append(places[name], at)
		})
	}
	var out []Call
	for _, name := range names {
		if o := s.declared(name); len(o) > 0 {
			out = append(out, Call{o[0], places[name]})
		}
	}
	return out
}
