package truth_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
)

// TestReach checks the classes of targets with several modes: modes of equal scale are reachable,
// and modes at a distance of 20 standard deviations are not.
func TestReach(t *testing.T) {
	for name, want := range map[string]truth.Class{
		"two-equal-1": truth.Reachable, "heights-0.99-101": truth.Reachable, "concentric-5": truth.Reachable,
		"labels-2": truth.Reachable, "transfection-20": truth.Reachable, "bistable-15": truth.Reachable,
		"far-1": truth.Far, "far-10-narrow": truth.Far,
	} {
		if got := named(t, name).Class; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, target := range checked() {
		if strings.HasPrefix(target.Name, "far-") && target.Class != truth.Far {
			t.Errorf("%s: %s", target.Name, target.Class)
		}
	}
}
