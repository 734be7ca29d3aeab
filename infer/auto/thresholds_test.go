package auto

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestThresholds checks the table: names differ, each row has its own value, the options scale one
// row and no other, and the page shows the rows unchanged.
func TestThresholds(t *testing.T) {
	page, err := os.ReadFile("../../doc/evidence/auto-thresholds.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	standard := Sampler{}.limits()
	for _, row := range Thresholds() {
		if names[row.Name] || row.Unit == "" || row.Decides == "" || row.Value == 0 {
			t.Errorf("row %+v is not complete, or its name is used twice", row)
		}
		names[row.Name] = true
		if source, err := os.ReadFile(row.File); err != nil || !strings.Contains(string(source), row.Name) {
			t.Errorf("%s is not used in %s (%v)", row.Name, row.File, err)
		}
		scaled := Sampler{Threshold: row.Name, Factor: 2}.limits()
		if *row.at(scaled) != 2*row.Value {
			t.Errorf("%s is %v with a factor of 2, want %v", row.Name, *row.at(scaled), 2*row.Value)
		}
		*row.at(scaled) = row.Value
		if *scaled != *standard {
			t.Errorf("%s: another threshold was scaled too", row.Name)
		}
		if line := rowOfPage(row); !strings.Contains(string(page), line) {
			t.Errorf("doc/evidence/auto-thresholds.md lacks the line\n%s", line)
		}
	}
	if len(names) != strings.Count(fmt.Sprintf("%+v", *standard), ":") {
		t.Errorf("the table has %d thresholds, limits are %+v", len(names), *standard)
	}
	for _, s := range []Sampler{{Threshold: "nothing", Factor: 2}, {Threshold: "barrier"}, {Threshold: "barrier", Factor: -1}} {
		if s.Validate() == nil {
			t.Errorf("threshold %q with factor %v is accepted", s.Threshold, s.Factor)
		}
	}
}

// rowOfPage is the row of the table in doc/evidence/auto-thresholds.md.
func rowOfPage(row Threshold) string {
	effect := row.Effect
	if effect == "" {
		effect = "not measured"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |", row.Name, strconv.FormatFloat(row.Value, 'g', -1, 64), row.Unit, row.File, row.Decides, effect)
}
