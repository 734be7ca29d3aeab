package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/ast"
	stan "github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/model"
)

// This file: --na, --missing and --read, which say how columns of a table are read.

// howWords completes the words of --read.
var howWords = oneOf(data.Hows()...)

// holeWords completes the words of --na.
var holeWords = oneOf(data.HolesWords()...)

// suits makes data be read for a model.
func (in *input) suits(m *model.Model) { in.uses, in.sizes = m.Program().Declares, firstSizes(m) }

// byKey reports whether a column of a further table has a value for each level of the key, as the
// model declares it: with another size than the key.
func (in *input) byKey(column, key string) bool {
	of, keyOf := in.sizes[column], in.sizes[key]
	return of != "" && keyOf != "" && of != keyOf
}

// firstSizes returns the first sizes of the variables of a model's data, as they are written.
func firstSizes(m *model.Model) map[string]string {
	sizes := map[string]string{}
	tree, info := m.Program().Syntax()
	block := tree.Block(ast.Data)
	if block == nil {
		return sizes
	}
	for _, s := range block.Stmts {
		d, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		if all := slices.Concat(d.Type.ArrayDims, d.Type.Sizes); len(all) > 0 {
			sizes[info.Defs[d].Name] = stan.Line(all[0])
		}
	}
	return sizes
}

// droppedRows reports the rows that --na leaves out.
func droppedRows(stderr io.Writer, s *data.Set) {
	if s.Dropped() == 0 {
		return
	}
	var of []string
	for _, c := range s.Columns() {
		if c.Missing > 0 && c.Holes == data.HolesDrop {
			of = append(of, fmt.Sprintf("%s in %d", c.Name, c.Missing))
		}
	}
	printMessage(stderr, "%s: %s with holes left out (%s)", s.File(), counted(s.Dropped(), "row"), strings.Join(of, ", "))
}

// missingValues reports the data whose missing values are parameters.
func missingValues(stderr io.Writer, p *model.Posterior) {
	const shown = 8
	for _, m := range p.Missing() {
		list := strings.Join(m.Elements[:min(shown, len(m.Elements))], ", ")
		if len(m.Elements) > shown {
			list += ", …"
		}
		verb := "are missing and become parameters"
		if len(m.Elements) == 1 {
			verb = "is missing and becomes a parameter"
		}
		printMessage(stderr, "%s: %d of %s %s: %s", m.Name, len(m.Elements), counted(m.Size, "value"), verb, list)
	}
}
