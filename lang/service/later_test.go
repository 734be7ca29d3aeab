package service_test

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
)

// sorted sorts completions by their labels: those of the library have no order.
func sorted(list []service.Completion) []service.Completion {
	slices.SortFunc(list, func(a, b service.Completion) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Detail, b.Detail))
	})
	return list
}

// TestLater types into programs. Completion in a newer text by the analysis of an older one equals
// completion by its own analysis.
func TestLater(t *testing.T) {
	for _, text := range []string{
		program("  real inner = 1;\n  y ~ ‸\n  target += 1;"),
		program("  real inner = 1;\n  y ~ normal(‸);\n  alpha ~ normal(0, 1);"),
		program("  for (n in 1:N) {\n    y[n] ~ normal(alpha + ‸ \n  }\n  { real gone; }"),
		program("  target += ‸;"),
		"functions {\n  real f(real abc) { return ‸; }\n}\nmodel { }",
		"data {\n  int N;\n  array[N] ‸\n}\nparameters { real mu; }",
		"data { int N; }\nparameters { real mu; }\ngenerated quantities {\n  real z = ‸",
	} {
		f, at := marked(t, text)
		older := analyse(f)
		for _, typed := range []string{"", "a", "al", "nor", "N + exp(", "\n  ", "é"} {
			for _, cut := range []int{0, 3} { // characters that are deleted, before typing
				kept := f.Text[:at-cut]
				if strings.ContainsAny(f.Text[at-cut:at], "{};#/*\"") {
					continue
				}
				now := source.NewFile(f.Name, kept+typed+f.Text[at:])
				later, ok := older.Later(now)
				if !ok {
					t.Errorf("%q: %q in place of %d characters is refused", tail(text), typed, cut)
					continue
				}
				place := len(kept) + len(typed)
				got, want := sorted(later.Complete(now, place, nil)), sorted(analyse(now).Complete(now, place, nil))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%q: after %q in place of %d characters %d completions, by the analysis %d", tail(text), typed, cut, len(got), len(want))
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Fatalf("%+v and %+v", got[i], want[i])
						}
					}
				}
			}
		}
		for _, typed := range []string{"}", "{", ";", "// ", "/* ", "\"", "#include x"} {
			if _, ok := older.Later(source.NewFile(f.Name, f.Text[:at]+typed+f.Text[at:])); ok {
				t.Errorf("%q: %q needs an analysis", tail(text), typed)
			}
		}
	}
}
