package checktest

import (
	"bufio"
	"os"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// Stan reads Stan's own list of library signatures, one "name(types) => type"
// a line, as the universe of all of Stan. Forms that take functions or tuples
// are left out. Operators get the forms of the functions that they stand for.
func Stan(path string) (Library, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lib := Library{}
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		if f, ok := parseSignature(sc.Text()); ok {
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

// operators and the functions that they are.
var operators = map[string]string{
	"+": "add", "-": "subtract", ".*": "elt_multiply", "./": "elt_divide", "%": "modulus",
	"\\": "mdivide_left", "^": "pow", ".^": "pow", "'": "transpose", "!": "logical_negation",
	"==": "logical_eq", "!=": "logical_neq", "<": "logical_lt", "<=": "logical_lte", ">": "logical_gt", ">=": "logical_gte",
}

// parseSignature reads a line; ok is false if it has functions or tuples.
func parseSignature(line string) (f types.Fixed, ok bool) {
	name, rest, _ := strings.Cut(line, "(")
	i := strings.LastIndex(rest, ") => ")
	if i < 0 || strings.Contains(rest[:i], "(") {
		return f, false
	}
	f.Name = name
	if f.Result, ok = parseType(rest[i+5:]); !ok {
		return f, false
	}
	depth := 0
	args := strings.FieldsFunc(rest[:i], func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return r == ',' && depth == 0
	})
	for k, a := range args {
		a, data := strings.CutPrefix(strings.TrimSpace(a), "data ")
		p, ok := parseType(a)
		if !ok {
			return f, false
		}
		if data && f.DataOnly == nil {
			f.DataOnly = make([]bool, len(args))
		}
		if data {
			f.DataOnly[k] = true
		}
		f.Params = append(f.Params, p)
	}
	return f, true
}

func parseType(s string) (types.Type, bool) {
	var t types.Type
	if rest, ok := strings.CutPrefix(s, "array["); ok {
		commas, elem, _ := strings.Cut(rest, "] ")
		t.Dims = len(commas) + 1
		s = elem
	}
	for k := types.Void; k < types.Tuple; k++ {
		if k.String() == s {
			t.Kind = k
			return t, true
		}
	}
	return types.Type{}, false
}
