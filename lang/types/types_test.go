package types_test

import (
	"fmt"
	"math"
	"testing"

	. "github.com/ppl-lang/ppl/lang/types"
)

func TestTypeString(t *testing.T) {
	for _, c := range []struct {
		t    Type
		want string
	}{
		{IntType, "int"},
		{VectorType.Array(2), "array[,] vector"},
		{Type{Kind: Tuple, Members: []Type{IntType, RealType.Array(1)}}, "tuple(int, array[] real)"},
		{Type{Kind: Function, Func: &FuncType{Params: []Param{{RealType, true}, {Type: VectorType}}, Result: VoidType}}, "(data real, vector) => void"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestPromotable(t *testing.T) {
	complexType := Type{Kind: Complex}
	tuple := func(ts ...Type) Type { return Type{Kind: Tuple, Members: ts} }
	for _, c := range []struct {
		from, to Type
		n        int
		ok       bool
	}{
		{IntType, IntType, 0, true},
		{IntType, RealType, 1, true},
		{IntType, complexType, 2, true},
		{RealType, IntType, 0, false},
		{IntType.Array(2), RealType.Array(2), 1, true},
		{IntType.Array(1), RealType, 0, false},
		{VectorType, RealType.Array(1), 0, false},
		{VectorType, Type{Kind: ComplexVector}, 1, true},
		{Type{Kind: ComplexVector}, VectorType, 0, false},
		{VectorType, RowVectorType, 0, false},
		{tuple(IntType, RealType), tuple(RealType, complexType), 2, true},
		{tuple(IntType), tuple(VectorType), 0, false},
		{tuple(IntType), tuple(IntType, IntType), 0, false},
	} {
		if n, ok := Promotable(c.from, c.to); ok != c.ok || ok && n != c.n {
			t.Errorf("Promotable(%s, %s) = %d, %v", c.from, c.to, n, ok)
		}
	}
}

func TestUnify(t *testing.T) {
	a := Type{Kind: Tuple, Members: []Type{IntType, RealType}}
	b := Type{Kind: Tuple, Members: []Type{RealType, IntType}}
	if u, ok := Unify(a, b); !ok || u.String() != "tuple(real, real)" {
		t.Errorf("got %s, %v", u, ok)
	}
	if _, ok := Unify(VectorType, RealType); ok {
		t.Error("a vector and a real have no common type")
	}
}

// TestResolve checks that fewer promotions are preferred, that ties are ambiguous, that failures
// are explained, and that Resolve returns the same Overload value.
func TestResolve(t *testing.T) {
	type declared struct { // stdlib embeds overloads like this
		Overload
		doc string
	}
	intReal := &declared{Fixed{Name: "f", Params: []Type{IntType, RealType}, Result: IntType}, "1"}
	realInt := &declared{Fixed{Name: "f", Params: []Type{RealType, IntType}, Result: RealType}, "2"}
	vec := &declared{Fixed{Name: "f", Params: []Type{VectorType}, Result: RealType, DataOnly: []bool{true}}, "3"}
	cands := []Overload{intReal, realInt, vec}

	if o, m, fail := Resolve(cands, []Type{IntType, RealType}); o != Overload(intReal) || m.Promotions != 0 || fail != nil {
		t.Errorf("got %v %v %v", o, m, fail)
	}
	if _, _, fail := Resolve(cands, []Type{IntType, IntType}); fail == nil || !fail.Ambiguous || len(fail.Candidates) != 2 {
		t.Errorf("f(int, int): got %v, want an ambiguity of two", fail)
	}
	args := []Type{IntType, VectorType}
	_, _, fail := Resolve(cands, args)
	if fail == nil || fail.Ambiguous {
		t.Fatalf("f(int, vector): got %v", fail)
	}
	got := ""
	for _, c := range fail.Candidates {
		got += c.Explain(args) + "\n"
	}
	if want := "argument 2 must be real, but is vector\nargument 2 must be int, but is vector\nit takes 1 argument, not 2\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, _, fail := ResolveLevels(cands, []Type{VectorType}, []bool{true}); fail == nil {
		t.Error("a parameter is accepted where only data will do")
	}
	if o, _, _ := ResolveLevels(cands, []Type{VectorType}, []bool{false}); o != Overload(vec) {
		t.Error("data are not accepted")
	}
}

// TestFamilies checks the signatures of families, and promotions that Stan's list does not have.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		o    Overload
		want string
	}{
		{Unary("exp"), "exp(T) => T, T real or any container of it"},
		{Elementwise{Name: "abs", Args: []Kind{Complex}, Result: Real}, "abs(T) => T, T complex or any container of it, the result of real"},
		{Binary("pow"), "pow(real T, real U) => real, each argument a scalar or a container of one common shape"},
		{Density("normal_lpdf", Reals, Reals, Reals), "normal_lpdf(reals | reals, reals) => real"},
		{Density("categorical_lpmf", Ints, Just(VectorType)), "categorical_lpmf(ints | vector) => real"},
		{Generator("poisson_rng", IntType, AnyReals), "poisson_rng(reals) => int or array[] int"},
		{Fixed{Name: "to_int", Params: []Type{RealType}, Result: IntType, DataOnly: []bool{true}}, "to_int(data real) => int"},
	} {
		if got := c.o.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	m, ok := Unary("exp").Match([]Type{IntType.Array(9)})
	if !ok || !m.Params[0].Equal(RealType.Array(9)) || !m.Result.Equal(RealType.Array(9)) || m.Promotions != 0 {
		t.Errorf("exp of ints: %v, %v", m, ok)
	}
	g := Generator("multi_normal_rng", VectorType, Vectors, Just(MatrixType))
	for _, c := range []struct{ arg, want Type }{{VectorType, VectorType}, {RowVectorType.Array(1), VectorType.Array(1)}} {
		if m, ok := g.Match([]Type{c.arg, MatrixType}); !ok || !m.Result.Equal(c.want) {
			t.Errorf("multi_normal_rng(%s, matrix) gives %v, %v", c.arg, m.Result, ok)
		}
	}
}

func ExampleConstraint() {
	for _, c := range []Constraint{Positive, UnitInterval, Finite, Any, Between(2, 3), SimplexVec} {
		fmt.Printf("must be %s: %v %v %v %v\n", c, c.Contains(0), c.Contains(2), c.Contains(math.Inf(1)), c.Contains(math.NaN()))
	}
	// Output:
	// must be positive: false true true false
	// must be in the interval [0, 1]: true false false false
	// must be finite: true true false false
	// must be a number: true true true true
	// must be in the interval [2, 3]: false true false false
	// must be a valid simplex: true true true false
}

func TestConstrainedType(t *testing.T) {
	for _, c := range []struct {
		word string
		kind ConstraintKind
		t    Type
	}{{"simplex", Simplex, VectorType}, {"sum_to_zero_vector", SumToZeroVector, VectorType}, {"sum_to_zero_matrix", SumToZeroMatrix, MatrixType},
		{"cholesky_factor_cov", CholeskyFactorCov, MatrixType}} {
		if k, u, ok := ConstrainedType(c.word); !ok || k != c.kind || !u.Equal(c.t) {
			t.Errorf("%s: got %s, %s, %v", c.word, k, u, ok)
		}
	}
	for _, word := range []string{"vector", "unconstrained", "lower/upper"} {
		if _, _, ok := ConstrainedType(word); ok {
			t.Errorf("%s is no constrained type", word)
		}
	}
}
