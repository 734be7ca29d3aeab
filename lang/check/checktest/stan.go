package checktest

import (
	"bufio"
	"os"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// Stan reads Stan's own list of library signatures, with one "name(types) => type" per line. The
// list does not say which arguments must be data, except for those of functions that are passed.
// Operators get the signatures of their functions.
func Stan(path string) (Library, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lib := Library{}
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		if f, ok := Signature(sc.Text()); ok {
			lib[f.Name] = append(lib[f.Name], f)
		}
	}
	for op, name := range operators {
		lib["operator"+op] = lib[name]
	}
	lib["operator+"] = append(lib["operator+"][:len(lib["operator+"]):len(lib["operator+"])], lib["plus"]...)
	lib["operator-"] = append(lib["operator-"][:len(lib["operator-"]):len(lib["operator-"])], lib["minus"]...)
	lib["operator*"] = lib["multiply"]
	lib["operator/"] = append(lib["divide"][:len(lib["divide"]):len(lib["divide"])], lib["mdivide_right"]...)
	lib["operator%/%"] = []types.Overload{types.Fixed{Name: "operator%/%", Params: []types.Type{i, i}, Result: i}}
	return lib, sc.Err()
}

// operators maps operators to their functions.
var operators = map[string]string{
	"+": "add", "-": "subtract", ".*": "elt_multiply", "./": "elt_divide", "%": "modulus",
	"\\": "mdivide_left", "^": "pow", ".^": "pow", "'": "transpose", "!": "logical_negation",
	"==": "logical_eq", "!=": "logical_neq", "<": "logical_lt", "<=": "logical_lte", ">": "logical_gt", ">=": "logical_gte",
}

// Signature parses a line "name(types) => type".
func Signature(line string) (f types.Fixed, ok bool) {
	name, rest, _ := strings.Cut(line, "(")
	t, ok := parseType("(" + rest)
	if !ok || t.Kind != types.Function {
		return f, false
	}
	f = types.Fixed{Name: name, Result: t.Func.Result}
	for i, p := range t.Func.Params {
		if p.DataOnly && f.DataOnly == nil {
			f.DataOnly = make([]bool, len(t.Func.Params))
		}
		f.Params = append(f.Params, p.Type)
		if p.DataOnly {
			f.DataOnly[i] = true
		}
	}
	return f, true
}

// parseType parses a type in a signature; "(types) => type" is a function.
func parseType(s string) (types.Type, bool) {
	var t types.Type
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "("); ok {
		i := strings.LastIndex(inner, ") => ")
		if i < 0 {
			return t, false
		}
		result, ok := parseType(inner[i+5:])
		t = types.Type{Kind: types.Function, Func: &types.FuncType{Result: result}}
		for _, a := range splitTypes(inner[:i]) {
			a, data := strings.CutPrefix(a, "data ")
			p, good := parseType(a)
			ok = ok && good
			t.Func.Params = append(t.Func.Params, types.Param{Type: p, DataOnly: data})
		}
		return t, ok
	}
	if rest, ok := strings.CutPrefix(s, "array["); ok {
		commas, elem, _ := strings.Cut(rest, "] ")
		t.Dims = len(commas) + 1
		s = elem
	}
	if inner, ok := strings.CutPrefix(s, "tuple("); ok {
		t.Kind = types.Tuple
		for _, m := range splitTypes(strings.TrimSuffix(inner, ")")) {
			mt, good := parseType(m)
			ok = ok && good
			t.Members = append(t.Members, mt)
		}
		return t, ok
	}
	for k := types.Void; k < types.Tuple; k++ {
		if k.String() == s {
			t.Kind = k
			return t, true
		}
	}
	return types.Type{}, false
}

// splitTypes splits at commas outside brackets.
func splitTypes(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s + "," {
		switch r {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ',':
			if t := strings.TrimSpace(s[start:i]); depth == 0 && t != "" {
				out = append(out, t)
			}
			if depth == 0 {
				start = i + 1
			}
		}
	}
	return out
}
