package compile

import (
	"os"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestLanguage checks every line of Stan's list of signatures, the file PPL_SIGNATURES. The library
// must have a function with the same argument types and result.
func TestLanguage(t *testing.T) {
	path := os.Getenv("PPL_SIGNATURES")
	if path == "" {
		t.Skip("PPL_SIGNATURES is not set to the path of Stan's signatures.txt")
	}
	stan, err := checktest.Stan(path)
	if err != nil {
		t.Fatal(err)
	}
	lib := stdlib.Language()
	lines, unresolved := 0, 0
	for name, forms := range stan {
		if len(name) > 8 && name[:8] == "operator" {
			continue
		}
		for _, form := range forms {
			f := form.(types.Fixed)
			lines++
			if _, m, fail := types.Resolve(lib.Lookup(name), f.Params); fail != nil || !m.Result.Equal(f.Result) {
				unresolved++
				t.Errorf("not resolved: %s", f)
			}
		}
	}
	t.Logf("%d lines, %d unresolved", lines, unresolved)
	if lines < 20000 {
		t.Errorf("only %d lines: is this the list?", lines)
	}
}

// TestLanguageWithoutList checks a few signatures without the list.
func TestLanguageWithoutList(t *testing.T) {
	lib := stdlib.Language()
	z := types.ComplexType
	for _, c := range []struct {
		name string
		args []types.Type
		want types.Type
	}{
		{"exp", []types.Type{z}, z},
		{"exp", []types.Type{types.RealType}, types.RealType},
		{"operator*", []types.Type{types.RealType, {Kind: types.ComplexVector}}, types.Type{Kind: types.ComplexVector}},
		{"simplex_constrain", []types.Type{types.VectorType.Array(2)}, types.VectorType.Array(2)},
		{"beta_neg_binomial_rng", []types.Type{types.RealType, types.VectorType, types.IntType}, types.IntType.Array(1)},
	} {
		_, m, fail := types.Resolve(lib.Lookup(c.name), c.args)
		if fail != nil || !m.Result.Equal(c.want) {
			t.Errorf("%s%v: %v %v", c.name, c.args, m.Result, fail)
		}
	}
	names := slices.Collect(lib.Names())
	if !slices.IsSorted(names) || !slices.Contains(names, "ode_rk45_tol") || !slices.Contains(names, "exp") {
		t.Error("names are not those of the language")
	}
}
