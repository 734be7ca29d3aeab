package stdlibtest

import (
	"bufio"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestStanSignatures compares the library with Stan's list of signatures, whose path is
// PPL_SIGNATURES. For every name in both and every tuple of argument types, they must agree on
// whether the call is legal and on its result type. Complex numbers and tuples are excluded.
func TestStanSignatures(t *testing.T) {
	path := os.Getenv("PPL_SIGNATURES")
	if path == "" {
		t.Skip("PPL_SIGNATURES is not set to the path of Stan's signatures.txt")
	}
	stan := readSignatures(t, path)
	u := stdlib.Universe()
	all := universe(2)
	for name := range u.Names() {
		switch name {
		// Stan does not have these.
		case "loglogistic_lcdf", "loglogistic_lccdf", "beta_proportion_cdf":
			continue
		}
		if strings.HasPrefix(name, "operator") {
			continue
		}
		listed := stan[name]
		if len(listed) == 0 {
			t.Errorf("%s is not a function of Stan", name)
			continue
		}
		for _, o := range listed {
			f := o.(types.Fixed)
			got, m, fail := types.Resolve(u.Lookup(name), f.Params)
			switch {
			case fail != nil && fail.Ambiguous:
				t.Errorf("%s is ambiguous", f)
			case fail != nil:
				// The library does not have this function, and need not.
				if _, _, fail := types.Resolve(stdlib.Language().Lookup(name), f.Params); fail != nil {
					t.Errorf("%s is not accepted", f)
				}
			case !m.Result.Equal(f.Result):
				t.Errorf("%s is accepted as %s with a value of type %s", f, got, m.Result)
			}
		}
		arities := map[int]bool{}
		most := 3
		for _, o := range listed {
			n := len(o.(types.Fixed).Params)
			arities[n] = true
			most = max(most, n)
		}
		same := func(args []types.Type) {
			_, ours, fail := types.Resolve(u.Lookup(name), args)
			_, theirs, not := types.Resolve(listed, args)
			accepted := not == nil || not.Ambiguous
			switch {
			case fail != nil && not == nil:
				t.Errorf("%s%v is not accepted", name, args)
			case fail != nil || logicalOfReals(name):
			case !arities[len(args)] || !accepted:
				t.Errorf("%s%v is accepted", name, args)
			case not == nil && !theirs.Result.Equal(ours.Result):
				t.Errorf("%s%v has a value of type %s, in Stan %s", name, args, ours.Result, theirs.Result)
			}
		}
		for n := range 4 {
			tuples(all, n, same)
		}
		// For four or more arguments, up to one more than Stan has, change up to three types in a
		// listed signature.
		rng := rand.New(rand.NewPCG(1, uint64(len(listed))))
		for n := 4; n <= most+1; n++ {
			for range 1000 {
				args := slices.Clone(listed[rng.IntN(len(listed))].(types.Fixed).Params)
				for len(args) < n {
					args = append(args, all[rng.IntN(len(all))])
				}
				args = args[:n]
				for range rng.IntN(4) {
					args[rng.IntN(n)] = all[rng.IntN(len(all))]
				}
				same(args)
			}
		}
	}
}

// logicalOfReals reports whether a name is an operator that takes reals, while Stan lists its
// function only for ints.
func logicalOfReals(name string) bool {
	return slices.Contains([]string{"logical_and", "logical_negation", "logical_or"}, name)
}

// universe returns all types with up to dims array dimensions.
func universe(dims int) []types.Type {
	var ts []types.Type
	for d := 0; d <= dims; d++ {
		for _, t := range list(tInt, tReal, tVec, tRow, tMat) {
			ts = append(ts, t.Array(d))
		}
	}
	return ts
}

// tuples calls f with all n-tuples of types.
func tuples(ts []types.Type, n int, f func([]types.Type)) {
	args := make([]types.Type, n)
	var fill func(i int)
	fill = func(i int) {
		if i == n {
			f(args)
			return
		}
		for _, t := range ts {
			args[i] = t
			fill(i + 1)
		}
	}
	fill(0)
}

var typeText = regexp.MustCompile(`(?:array\[(,*)\] )?(int|real|vector|row_vector|matrix)`)

func readSignatures(t *testing.T, path string) map[string][]types.Overload {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	kinds := map[string]types.Type{"int": tInt, "real": tReal, "vector": tVec, "row_vector": tRow, "matrix": tMat}
	parse := func(s string) types.Type {
		m := typeText.FindStringSubmatch(s)
		typ := kinds[m[2]]
		if strings.HasPrefix(s, "array") {
			typ = typ.Array(len(m[1]) + 1)
		}
		return typ
	}
	sigs := map[string][]types.Overload{}
	for sc := bufio.NewScanner(file); sc.Scan(); {
		line := sc.Text()
		name, rest, _ := strings.Cut(line, "(")
		params, result, ok := strings.Cut(rest, ") => ")
		if !ok || strings.Contains(line, "complex") || strings.Contains(line, "tuple") || strings.Contains(params, "=>") || strings.Contains(line, "void") {
			continue
		}
		f := types.Fixed{Name: name, Result: parse(result)}
		for _, p := range typeText.FindAllString(params, -1) {
			f.Params = append(f.Params, parse(p))
		}
		sigs[name] = append(sigs[name], f)
	}
	return sigs
}
