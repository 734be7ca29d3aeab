package report

import "testing"

// TestParametersOf checks which quantities the table of several fits has: labelled elements too,
// but not group-level terms. Cells of quantities that a fit lacks are empty.
func TestParametersOf(t *testing.T) {
	figures := []Number{1, 2, 3}
	one := &Report{Summary: Summary{Name: []string{"b", "a[1]", "u[1]"}, Label: []string{"", "north", "x"}, Grouped: []bool{false, false, true},
		Mean: figures, Q5: figures, Q95: figures, SD: figures}}
	two := &Report{Summary: Summary{Name: []string{"b"}, Mean: figures, Q5: figures, Q95: figures, SD: figures}}
	got := parametersOf([]string{"one", "two"}, []*Report{one, two})
	if len(got.Rows) != 2 || got.Rows[0][0] != "b" || got.Rows[1][0] != "a[1] north" || got.Rows[1][1] == "" || got.Rows[1][2] != "" || got.Rows[0][2] == "" {
		t.Errorf("%v", got.Rows)
	}
}
