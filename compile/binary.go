package compile

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file prepares tables: it converts columns of strings, such as yes and no, for variables that
// count from 0, and counts rows and levels.

// Coded returns the data as the program reads them. If the declarations of a table's columns
// determine counts that the table lacks, these are added: the size of a column is the number of
// rows, the upper bound of factors the number of their levels. Strings of JSON are levels where
// integers are declared. The levels of a column of strings
// count from 1. Those of a column with two levels count from 0 if its variable is declared
// int<lower=0, upper=1>; binary lists these variables. A column of strings for any other variable
// that counts from 0 is an error. So are truth values, such as T and F, for a variable that is not
// declared to count from 0 or 1.
func (p *Program) Coded(d *data.Set) (coded *data.Set, binary []Binary, err error) {
	tree, info := p.Syntax()
	block := tree.Block(ast.Data)
	if block == nil {
		return d, nil, nil
	}
	d = p.Flattened(d).Filled(func(name string) bool {
		for decl := range declarations(block) {
			if decl.Name.Name == name {
				return decl.Type.Missing() != nil
			}
		}
		return false
	})
	if d, err = labelled(block, info, d); err != nil {
		return nil, nil, err
	}
	found := &Error{}
	for decl := range declarations(block) {
		v := info.Defs[decl]
		levels := d.Levels(v.Name)
		if levels == nil || v.Type.Kind != types.Int || v.Type.Dims == 0 { // of a single integer, they are labels
			continue
		}
		lower, upper := "", "" // "" if there is none, "?" if it depends on data
		for _, b := range decl.Type.Bounds {
			if !b.Restricts() {
				continue
			}
			text := "?"
			if n, ok := info.Number(b.Value, nil); ok {
				text = strconv.FormatFloat(n.Val, 'g', -1, 64)
			}
			if b.Kind == "lower" {
				lower = text
			} else {
				upper = text
			}
		}
		switch {
		case lower == "0" && upper == "1" && len(levels) == 2:
			d = d.FromZero(v.Name)
			binary = append(binary, Binary{v.Name, levels[0], levels[1]})
		case lower == "0" || lower == "" && truths(levels):
			from := "counts from 0"
			if lower == "" {
				from = "does not say what its numbers stand for"
			}
			found.List = append(found.List, diag.Diagnostic{Code: diag.DataBounds, Span: decl.Span(),
				Summary: "`" + v.Name + "` " + from + ", but in " + d.File() + " it is a column of texts: " + listed(levels),
				Fix: "for two levels, declare `" + v.Name + "` with int<lower=0, upper=1>, and they are 0 and 1 in the order of the alphabet; for levels that count from 1, declare it with int<lower=1>; " +
					"or write numbers into the table"})
		}
	}
	if len(found.List) > 0 {
		return nil, nil, found
	}
	return d, binary, nil
}

// Declares reports whether the data block declares a variable.
func (p *Program) Declares(name string) bool {
	tree, _ := p.Syntax()
	if block := tree.Block(ast.Data); block != nil {
		for d := range declarations(block) {
			if d.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// declarations returns the declarations of a block.
func declarations(block *ast.Block) iter.Seq[*ast.VarDecl] {
	return func(yield func(*ast.VarDecl) bool) {
		for _, s := range block.Stmts {
			if d, ok := s.(*ast.VarDecl); ok && !yield(d) {
				return
			}
		}
	}
}

// labelled reads the strings of JSON that are levels of a factor or labels of a size, and gives the
// labels that the program declares. Factors that are bounded by the same size get the same levels.
func labelled(block *ast.Block, info *check.Info, d *data.Set) (*data.Set, error) {
	integers, sizes, missing := map[string]bool{}, map[string]bool{}, map[string]bool{}
	bounded := map[string][]string{} // factors by their upper bounds
	for v := range declarations(block) {
		name := v.Name.Name
		integers[name] = info.Defs[v].Type.Scalar() == types.Int
		sizes[name] = info.Defs[v].Type.Equal(types.IntType)
		missing[name] = info.Defs[v].Missing
	}
	d = d.Worded(func(name string) bool { return integers[name] }, func(name string) bool { return sizes[name] }, func(name string) bool { return missing[name] })
	for v := range declarations(block) {
		if b := v.Type.Bound("upper"); b != nil && d.Levels(v.Name.Name) != nil {
			size, ok := b.Value.(*ast.VarExpr)
			own := func(e ast.Expr) bool { // a name for each row
				x, is := e.(*ast.VarExpr)
				return is && ok && x.Name == size.Name
			}
			if ok && !slices.ContainsFunc(v.Type.ArrayDims, own) {
				bounded[size.Name] = append(bounded[size.Name], v.Name.Name)
			}
		}
	}
	wrong := func(v *ast.VarDecl, e *data.Error) error {
		w := e.Diagnostic()
		w.Code = diag.DataBounds
		if !w.Span.IsValid() {
			w.Span = v.Span()
		}
		return &Error{List: diag.List{w}}
	}
	var e *data.Error
	for v := range declarations(block) {
		if labels := v.Type.Labels(); labels != nil {
			if d, e = d.Labelled(v.Name.Name, labels); e != nil {
				return nil, wrong(v, e)
			}
		}
	}
	d = counted(block, d)
	for v := range declarations(block) {
		if factors := bounded[v.Name.Name]; sizes[v.Name.Name] && factors != nil {
			if d, e = d.Shared(v.Name.Name, factors); e != nil {
				return nil, wrong(v, e)
			}
		}
	}
	return d, nil
}

// counted adds the counts that the declarations of a table's columns and of factors determine. The
// upper bound of a column of integers is none of them: the largest value may not have been
// observed.
func counted(block *ast.Block, d *data.Set) *data.Set {
	for v := range declarations(block) {
		_, given := d.Get(v.Name.Name) // the number of places of a sparse matrix has no name in the data
		if v.Type.Elem != "int" || len(v.Type.ArrayDims) > 0 || given || slices.Contains(d.Names(), v.Name.Name) {
			continue
		}
		is := func(e ast.Expr) bool {
			use, ok := e.(*ast.VarExpr)
			return ok && use.Name == v.Name.Name
		}
		rows, levels := "", ""
		for w := range declarations(block) {
			value, ok := d.Get(w.Name.Name)
			if !ok {
				continue
			}
			if sizes := slices.Concat(w.Type.ArrayDims, w.Type.Sizes); len(value.Shape) == 1 && len(sizes) == 1 && is(sizes[0]) {
				rows = w.Name.Name
			}
			for _, b := range w.Type.Bounds {
				if b.Kind == "upper" && is(b.Value) && d.Levels(w.Name.Name) != nil && levels == "" {
					levels = w.Name.Name
				}
			}
		}
		switch {
		case rows != "" && d.Table():
			value, _ := d.Get(rows)
			d = d.Counted(data.Count{Name: v.Name.Name}, value.Shape[0])
		case levels != "":
			d = d.Counted(data.Count{Name: v.Name.Name, Of: levels}, len(d.Levels(levels)))
		}
	}
	return d
}

// Binary is a variable of 0 and 1, with the strings that they represent.
type Binary struct{ Name, Zero, One string }

// truths reports whether all levels are words for true and false.
func truths(levels []string) bool {
	for _, l := range levels {
		switch strings.ToLower(l) {
		case "t", "f", "true", "false", "y", "n", "yes", "no":
		default:
			return false
		}
	}
	return true
}

// listed returns the names of the levels, shortened.
func listed(levels []string) string {
	const shown = 12
	text := strings.Join(levels[:min(len(levels), shown)], ", ")
	if len(levels) > shown {
		text += ", …"
	}
	return text
}
