package contest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Resized returns the data of a program, as JSON, with new values for ints that the data block uses
// as sizes. Arrays are cut to size. Ints whose declared bound is such a size are kept within it.
// Values that the program does not declare are left out.
func Resized(text, values string, sizes map[string]int) (string, error) {
	tree, list := lang.Parse(source.NewFile("model", text))
	if list.HasErrors() {
		return "", errors.New(list[0].String())
	}
	all := map[string]any{}
	d := json.NewDecoder(bytes.NewReader([]byte(values)))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return "", err
	}
	out := map[string]any{}
	known := map[string]int{}
	for _, b := range tree.Blocks {
		if b.Kind != ast.Data {
			continue
		}
		for _, s := range b.Stmts {
			v, ok := s.(*ast.VarDecl)
			if !ok {
				continue
			}
			value, ok := all[v.Name.Name]
			if !ok {
				return "", errors.New("no data for " + v.Name.Name)
			}
			if n, ok := value.(json.Number); ok {
				if i, err := n.Int64(); err == nil {
					known[v.Name.Name] = int(i)
					if k, ok := sizes[v.Name.Name]; ok {
						known[v.Name.Name] = k
						value = k
					}
				}
				out[v.Name.Name] = value
				continue
			}
			most := 0
			for _, b := range v.Type.Bounds {
				if x, ok := b.Value.(*ast.VarExpr); ok && b.Kind == "upper" && v.Type.Elem == "int" {
					most = known[x.Name]
				}
			}
			dims := slices.Concat(v.Type.ArrayDims, v.Type.Sizes)
			if k, _, ok := types.ConstrainedType(v.Type.Elem); ok && k.Square() {
				dims = append(dims, v.Type.Sizes[0])
			}
			switch v.Type.Elem {
			case "tuple", "complex", "complex_vector", "complex_matrix", "complex_row_vector":
				return "", errors.New("composite data")
			}
			value, err := cut(value, dims, known, most)
			if err != nil {
				return "", err
			}
			out[v.Name.Name] = value
		}
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// cut truncates a value to the sizes dims.
func cut(value any, dims []ast.Expr, known map[string]int, most int) (any, error) {
	if len(dims) == 0 {
		if n, ok := value.(json.Number); ok && most > 0 {
			if i, err := n.Int64(); err == nil && int(i) > most {
				return most, nil
			}
		}
		return value, nil
	}
	list, ok := value.([]any)
	size, ok2 := (*check.Info)(nil).Number(dims[0], func(v *ast.VarExpr) (check.Number, bool) {
		n, ok := known[v.Name]
		return check.IntNumber(int64(n)), ok
	})
	n := int(size.Int)
	if !ok || !ok2 || n < 0 || n > len(list) {
		return nil, errors.New("a size that does not fit")
	}
	out := make([]any, n)
	for i := range out {
		v, err := cut(list[i], dims[1:], known, most)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Sizes returns the ints of the data block that are sizes of other data, with their values.
func Sizes(text, values string) map[string]int {
	tree, list := lang.Parse(source.NewFile("model", text))
	all := map[string]any{}
	if list.HasErrors() || json.Unmarshal([]byte(values), &all) != nil {
		return nil
	}
	out := map[string]int{}
	for _, b := range tree.Blocks {
		if b.Kind != ast.Data {
			continue
		}
		for _, s := range b.Stmts {
			if v, ok := s.(*ast.VarDecl); ok && v.Type.Elem == "int" && len(v.Type.ArrayDims) == 0 {
				if x, ok := all[v.Name.Name].(float64); ok {
					out[v.Name.Name] = int(x)
				}
			}
		}
	}
	return out
}

// Reduce makes data smaller as long as the program still fails with them.
func Reduce(text, values string, fails func(values string) bool, limit time.Duration) string {
	end := time.Now().Add(limit)
	try := func(sizes map[string]int) bool {
		if time.Now().After(end) {
			return false
		}
		smaller, err := Resized(text, values, sizes)
		if err != nil || len(smaller) >= len(values) || !fails(smaller) {
			return false
		}
		values = smaller
		return true
	}
	try(nil) // drop what the program does not declare
	var names []string
	for name := range Sizes(text, values) {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		n := Sizes(text, values)[name]
		for k := 0; k < n; k++ {
			if k > 5 && k < n-1 { // try only a few of the larger sizes
				k = min(max(2*k, n/2), n-1)
			}
			if try(map[string]int{name: k}) {
				break
			}
		}
	}
	return simpler(values, fails, end)
}

// simpler replaces arrays by zeros, ones or the first element.
func simpler(values string, fails func(values string) bool, end time.Time) string {
	var names []string
	decode := func() map[string]any {
		all := map[string]any{}
		d := json.NewDecoder(bytes.NewReader([]byte(values)))
		d.UseNumber()
		if d.Decode(&all) != nil {
			return nil
		}
		return all
	}
	for name := range decode() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, x := range []any{0, 1} {
			all := decode()
			if _, ok := all[name].([]any); !ok || time.Now().After(end) {
				break
			}
			all[name] = filled(all[name], x)
			b, err := json.Marshal(all)
			if err == nil && string(b) != values && fails(string(b)) {
				values = string(b)
				break
			}
		}
	}
	return values
}

func filled(v, x any) any {
	list, ok := v.([]any)
	if !ok {
		return x
	}
	out := make([]any, len(list))
	for i := range out {
		out[i] = filled(list[i], x)
	}
	return out
}
