package compile

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/stdlib"
)

// TestMetricsDoc checks the table of distributions with expected information in
// doc/reference/metrics.md. With PPL_UPDATE_DOC=1 it writes the table.
func TestMetricsDoc(t *testing.T) {
	const file = "../doc/reference/metrics.md"
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		what string
		is   func(f *stdlib.Func) bool
	}{
		{"element by element", func(f *stdlib.Func) bool { return f.Statements != nil && f.Dist != nil }},
		{"the half above a bound at the location too", func(f *stdlib.Func) bool { return f.Dist != nil && f.Dist.Half != nil }},
		{"linear models", func(f *stdlib.Func) bool { return f.Statements != nil && strings.Contains(f.Name, "_glm_") }},
		{"vectors and others", func(f *stdlib.Func) bool {
			return f.Statements != nil && f.Dist == nil && !strings.Contains(f.Name, "_glm_")
		}},
		{"none: contribute nothing", func(f *stdlib.Func) bool { return f.Statements == nil }},
	}
	var table strings.Builder
	table.WriteString("| expected information | distributions |\n| --- | --- |\n")
	for _, row := range rows {
		var names []string
		for name := range stdlib.Universe().Names() {
			for _, o := range stdlib.Universe().Lookup(name) {
				if f, ok := o.(*stdlib.Func); ok && f.Terms != nil && row.is(f) {
					short, _, _ := strings.Cut(strings.Replace(name, "_lpmf", "_lpdf", 1), "_lpdf")
					names = append(names, "`"+short+"`")
				}
			}
		}
		slices.Sort(names)
		fmt.Fprintf(&table, "| %s | %s |\n", row.what, strings.Join(slices.Compact(names), ", "))
	}
	want := putTable(t, string(bytes), "table: information", table.String())
	if want == string(bytes) {
		return
	}
	if os.Getenv("PPL_UPDATE_DOC") == "" {
		t.Fatalf("%s is not what the library declares; write it with PPL_UPDATE_DOC=1 go test ./compile -run TestMetricsDoc", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
