package stanc

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// info returns the JSON object of stanc --info: the variables and functions of a program.
func info(file *ast.File, facts *check.Info, included []string) string {
	var b strings.Builder
	b.WriteString("{")
	for i, block := range []struct {
		key  string
		kind ast.BlockKind
	}{
		{"inputs", ast.Data}, {"parameters", ast.Parameters},
		{"transformed parameters", ast.TransformedParameters}, {"generated quantities", ast.GeneratedQuantities},
	} {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  " + quoted(block.key) + ": {")
		first := true
		if found := file.Block(block.kind); found != nil {
			for _, s := range found.Stmts {
				d, ok := s.(*ast.VarDecl)
				if !ok {
					continue
				}
				if !first {
					b.WriteString(",")
				}
				first = false
				b.WriteString("\n    " + quoted(d.Name.Name) + ": " + variable(facts.Defs[d].Type))
			}
		}
		b.WriteString(" }")
	}
	functions, distributions := calls(facts)
	b.WriteString(",\n  \"functions\": " + names(functions))
	b.WriteString(",\n  \"distributions\": " + names(distributions))
	b.WriteString(",\n  \"included_files\": " + names(included) + "\n}\n")
	return b.String()
}

// variable describes the type of a variable as a JSON object: the kind of its numbers and the
// number of indices; for a tuple, its members.
func variable(t types.Type) string {
	if t.Kind == types.Tuple {
		var members []string
		for i, m := range t.Members {
			members = append(members, quoted(strconv.Itoa(i+1))+": "+variable(m))
		}
		return `{ "type": { ` + strings.Join(members, ", ") + ` }, "dimensions": ` + strconv.Itoa(t.Dims) + " }"
	}
	scalar, own := "real", 0
	switch t.Kind {
	case types.Int:
		scalar = "int"
	case types.Complex:
		scalar = "complex"
	case types.Vector, types.RowVector:
		own = 1
	case types.Matrix:
		own = 2
	case types.ComplexVector, types.ComplexRowVector:
		scalar, own = "complex", 1
	case types.ComplexMatrix:
		scalar, own = "complex", 2
	}
	return `{ "type": ` + quoted(scalar) + `, "dimensions": ` + strconv.Itoa(t.Dims+own) + " }"
}

// calls lists the library functions and distributions that a program uses.
func calls(facts *check.Info) (functions, distributions []string) {
	f, d := map[string]bool{}, map[string]bool{}
	for node, call := range facts.Calls {
		if call.Func != nil || strings.HasPrefix(call.Name, "operator") {
			continue
		}
		if _, statement := node.(*ast.Tilde); statement {
			d[call.Name] = true
		} else {
			f[call.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(f)), slices.Sorted(maps.Keys(d))
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func names(list []string) string {
	var all []string
	for _, n := range list {
		all = append(all, quoted(n))
	}
	return "[ " + strings.Join(all, ", ") + " ]"
}
