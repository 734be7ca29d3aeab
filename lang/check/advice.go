package check

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/types"
)

// This file: advice about types. It is given only if the advised program has the right types, which
// the universe decides. TestAdviceWorks, in package compile, follows every piece of advice.

// value returns the result type of a library function for arguments of these types.
func (c *checker) value(name string, args ...types.Type) (types.Type, bool) {
	_, m, fail := types.Resolve(c.universe.Lookup(name), args)
	return m.Result, fail == nil
}

// gives reports whether the result of a function can be used as a type.
func (c *checker) gives(to types.Type, name string, args ...types.Type) bool {
	result, ok := c.value(name, args...)
	if ok {
		_, ok = types.Promotable(result, to)
	}
	return ok
}

// conversion describes how to convert a value from one type to another; "" if that is impossible.
func (c *checker) conversion(from, to types.Type) string {
	if from.Equal(types.SparseType) && to.Equal(types.MatrixType) {
		return "Use to_matrix(…)."
	}
	if from.Equal(types.MatrixType) && to.Equal(types.SparseType) {
		return "Use to_sparse_matrix(…)."
	}
	if from.Kind == types.Tuple && from.Dims == 0 {
		brackets := map[types.Kind]string{types.Vector: "[a, b]'", types.RowVector: "[a, b]"}[to.Kind]
		if to.Dims > 0 {
			brackets = "{a, b}"
		}
		element, ok := to.Elem()
		for _, m := range from.Members {
			_, fits := types.Promotable(m, element)
			ok = ok && fits
		}
		if !ok || brackets == "" {
			return ""
		}
		return "Round brackets make tuples: write " + brackets + "."
	}
	if from.Scalar() == types.Complex && to.Scalar() != types.Complex {
		switch real, modulus := c.gives(to, "get_real", from), c.gives(to, "abs", from); {
		case real && modulus:
			return "Use get_real(…) for the real part, abs(…) for the modulus."
		case real:
			return "Use get_real(…) for the real part."
		}
		return ""
	}
	if to.Equal(types.IntType) && from.Equal(types.RealType) {
		return "Declare it as real, or use to_int(…), which takes data only: reals are not rounded automatically."
	}
	if from.Dims == 0 && from.Rank() == 1 && c.gives(to, "operator'", from) {
		return "Transpose it with '."
	}
	if from.Rank() > 0 {
		for _, name := range []string{"to_vector", "to_row_vector", "to_matrix", "to_array_1d", "to_array_2d"} {
			if c.gives(to, name, from) {
				return "Use " + name + "(…)."
			}
		}
	}
	if from.IsScalar() && to.Rank() > 0 {
		for _, kind := range []string{"vector", "row_vector", "matrix", "array"} {
			name, args := "rep_"+kind, []types.Type{from}
			for range to.Rank() {
				args = append(args, types.IntType)
			}
			if c.gives(to, name, args...) {
				return fmt.Sprintf("Use %s(…%s) to repeat a scalar.", name, []string{"", ", n", ", m, n", ", k, m, n"}[min(to.Rank(), 3)])
			}
		}
	}
	if element := (types.Type{Kind: from.Scalar()}); to.IsScalar() && from.Rank() > 0 {
		if _, ok := types.Promotable(element, to); ok && c.gives(to, "sum", from) {
			return "Index the value, or reduce it, as with sum(…)."
		} else if ok {
			return "Index the value."
		}
	}
	return ""
}

// operatorAdvice returns advice for operands that are often confused.
func (c *checker) operatorAdvice(op string, x, y types.Type) string {
	op = strings.TrimSuffix(op, "=")
	if advice := sparseAdvice(op, []types.Type{x, y}); advice != "" {
		return advice
	}
	takes := func(op string, x, y types.Type) bool {
		_, ok := c.value("operator"+op, x, y)
		return ok
	}
	flat := func(t types.Type) bool { return t.Dims == 0 && t.Rank() == 1 }
	transposed := func(t types.Type) types.Type {
		u, ok := c.value("operator'", t)
		if !ok || !flat(t) {
			return types.Type{}
		}
		return u
	}
	vector := func(t types.Type) types.Type {
		if u, ok := c.value("to_vector", t); ok && t.Dims > 0 {
			return u
		}
		return t
	}
	switch {
	case comparison(op) && (x.Rank() > 0 || y.Rank() > 0):
		return "compare element by element in a loop"
	case x.Dims > 0 || y.Dims > 0:
		if takes(op, vector(x), vector(y)) {
			return "arithmetic is for scalars, vectors and matrices: use a loop, or to_vector(…) on arrays where a vector of reals will do"
		}
		return "operators are for scalars, vectors and matrices, and not for arrays: use a loop"
	case op == "*" && flat(x) && flat(y) && takes(".*", x, y):
		if _, ok := c.value("dot_product", x, y); ok {
			return "use .* for the product of elements, dot_product(x, y) for their sum"
		}
		return "use .* for the product of elements"
	case op == "/" && flat(y) && takes("./", x, y):
		return "use ./ to divide element by element"
	case op == "*" && takes(op, y, x) && (takes(op, transposed(x), y) || takes(op, x, transposed(y))):
		return "a row_vector is on the left of a matrix, a vector on its right: swap the operands, or transpose the vector with '"
	case (op == "+" || op == "-" || op == ".*" || op == "./") && flat(x) && flat(y) && (takes(op, transposed(x), y) || takes(op, x, transposed(y))):
		return "transpose one of them with '"
	case (op == "+" || op == "-" || op == "./") && (flat(x) && c.repeats(op, x, y) || flat(y) && c.repeats(op, y, x)):
		return "use rep_matrix(v, n) to make a matrix of n copies of the vector"
	case op == ".*" && x.Dims == 0 && y.Dims == 0 && x.Rank()+y.Rank() == 3:
		return "the elements of both must correspond: diag_post_multiply(X, v) multiplies the columns of a matrix, diag_pre_multiply(v, X) its rows; * is the matrix product"
	case op == "%/%" && takes("/", x, y):
		return "it divides integers: use / for reals"
	case op == "%":
		if _, ok := c.value("fmod", x, y); ok {
			return "use fmod(x, y) for reals"
		}
	}
	return ""
}

// repeats reports whether copies of a vector form a matrix that is a valid operand with the other
// one.
func (c *checker) repeats(op string, v, other types.Type) bool {
	copies, ok := c.value("rep_matrix", v, types.IntType)
	if ok {
		_, ok = c.value("operator"+op, copies, other)
	}
	return ok && other.Rank() == 2
}
