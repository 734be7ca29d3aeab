package stdlib

import (
	"strings"
	"testing"
)

// TestPlanned: what is declared is not planned any more.
func TestPlanned(t *testing.T) {
	names := strings.Fields(planned)
	for _, name := range names {
		if len(Universe().Lookup(name)) > 0 {
			t.Errorf("%s is declared: take it off the list", name)
		}
	}
	if !Universe().Planned(names[0]) || Universe().Planned("exp") {
		t.Error("Planned does not tell names apart")
	}
}
