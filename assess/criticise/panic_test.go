package criticise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess/criticise"
)

// A matrix with a column of a wrong length is a mistake of the program. The panic arrives where the
// method was called, which may recover it, although goroutines share the columns.
func TestPlantedPanics(t *testing.T) {
	m := criticise.NewMatrix([]int{10, 10}, 40)
	m.Columns[39] = m.Columns[39][:15]
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "out of range") {
			t.Errorf("recovered %s", r)
		}
	}()
	m.Efficiency()
	t.Error("Efficiency did not panic")
}
