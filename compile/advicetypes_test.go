package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// operandTypes are types of data. The name of a variable follows them in a declaration.
var operandTypes = []string{
	"int", "real", "complex", "vector[2]", "row_vector[2]", "matrix[2, 2]", "complex_vector[2]", "complex_row_vector[2]", "complex_matrix[2, 2]",
	"array[2] int", "array[2] real", "array[2] complex", "array[2] vector[2]", "array[2] row_vector[2]", "array[2] matrix[2, 2]", "array[2] complex_vector[2]",
	"array[2, 2] int", "array[2, 2] real", "array[2, 2, 2] real", "tuple(real, real)", "array[2] tuple(real, real)",
}

// TestAdviceWorks checks that the advice of messages about wrong types compiles.
func TestAdviceWorks(t *testing.T) {
	check := func(program string) diag.List {
		var errors diag.List
		for _, d := range Check(source.NewFile("m.stan", program), Options{}) {
			if d.Severity == diag.Error {
				errors = append(errors, d)
			}
		}
		return errors
	}
	// By text of the advice: the replacement of x op y. One of the alternatives between bars must
	// be right.
	operators := map[string]string{
		"use .* for the product of elements, dot_product(x, y) for their sum": "x .* y & dot_product(x, y)",
		"use .* for the product of elements":                                  "x .* y",
		"use ./ to divide element by element":                                 "x ./ y",
		"arithmetic is for scalars, vectors and matrices: use a loop, or to_vector(…) on arrays where a vector of reals will do": "to_vector(x) OP y | x OP to_vector(y) | to_vector(x) OP to_vector(y)",
		"a row_vector is on the left of a matrix, a vector on its right: swap the operands, or transpose the vector with '":      "y OP x & x' OP y | y OP x & x OP y'",
		"transpose one of them with '":                                    "x' OP y | x OP y'",
		"use rep_matrix(v, n) to make a matrix of n copies of the vector": "rep_matrix(x, 2) OP y | x OP rep_matrix(y, 2)",
		"the elements of both must correspond: diag_post_multiply(X, v) multiplies the columns of a matrix, diag_pre_multiply(v, X) its rows; * is the matrix product": "diag_post_multiply(x, y) & diag_pre_multiply(y, x) | diag_post_multiply(y, x) & diag_pre_multiply(x, y)",
		"it divides integers: use / for reals":                                            "x / y",
		"use fmod(x, y) for reals":                                                        "fmod(x, y)",
		"compare element by element in a loop":                                            "",
		"operators are for scalars, vectors and matrices, and not for arrays: use a loop": "",
		"compare numbers first, as in x > 0":                                              "",
		"":                                                                                "",
	}
	follow := func(head, how string, statement func(string) string) bool {
		for alternative := range strings.SplitSeq(how, " | ") {
			all := true
			for e := range strings.SplitSeq(alternative, " & ") {
				all = all && len(check(head+statement(e))) == 0
			}
			if all {
				return true
			}
		}
		return false
	}
	for _, x := range operandTypes {
		for _, y := range operandTypes {
			head := fmt.Sprintf("data { %s x; %s y; }\n", x, y)
			for _, op := range []string{"+", "-", "*", "/", ".*", "./", "^", ".^", "%", "%/%", "\\", "==", "<", "&&"} {
				list := check(head + "transformed data { print(x " + op + " y); }\n")
				if len(list) == 0 {
					continue
				}
				how, ok := operators[list[0].Fix]
				if !ok {
					t.Errorf("%s %s %s: the advice %q is not known to this test", x, op, y, list[0].Fix)
				}
				if how != "" && !follow(head, strings.ReplaceAll(how, "OP", op), func(e string) string { return "transformed data { print(" + e + "); }\n" }) {
					t.Errorf("%s %s %s: %s does not help", x, op, y, list[0].Fix)
				}
			}
			// Assignments.
			list := check(head + "transformed data { " + y + " z = x; }\n")
			if len(list) == 0 || list[0].Fix == "" || x == y {
				continue
			}
			advice := strings.ToUpper(list[0].Fix[:1]) + list[0].Fix[1:] + "."
			how := ""
			if f, _, ok := strings.Cut(strings.TrimPrefix(advice, "Use "), "(…"); ok && strings.HasPrefix(advice, "Use ") {
				how = f + "(x" + strings.NewReplacer(", k", ", 2", ", m", ", 2", ", n", ", 2").Replace(advice[strings.Index(advice, "(…")+len("(…"):strings.Index(advice, ")")]) + ")"
				if strings.Contains(advice, "abs(…)") {
					how += " & abs(x)"
				}
			} else {
				switch {
				case strings.HasPrefix(advice, "Transpose it"):
					how = "x'"
				case strings.Contains(advice, "to_int(…)"):
					how = "to_int(x)"
				case strings.Contains(advice, "[a, b]'"):
					how = "[x.1, x.2]'"
				case strings.Contains(advice, "[a, b]"):
					how = "[x.1, x.2]"
				case strings.Contains(advice, "{a, b}"):
					how = "{x.1, x.2}"
				case advice == "Index the value, or reduce it, as with sum(…).":
					how = "x[1] & sum(x) | x[1, 1] & sum(x) | x[1, 1, 1] & sum(x)"
				case advice == "Index the value.":
					how = "x[1] | x[1, 1] | x[1, 1, 1]"
				default:
					t.Errorf("%s = %s: the advice %q is not known to this test", y, x, advice)
				}
			}
			if !follow(head, how, func(e string) string { return "transformed data { " + y + " z = " + e + "; }\n" }) {
				t.Errorf("%s = %s: %s (%s) does not help", y, x, advice, how)
			}
		}
	}
}
