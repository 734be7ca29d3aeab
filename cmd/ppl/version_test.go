package main

import (
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	"github.com/ppl-lang/ppl/lang"
)

// TestStanVersion checks that clients of CmdStan see the version whose language ppl reads.
func TestStanVersion(t *testing.T) {
	if got := fmt.Sprintf("%d.%d", stan.Major, stan.Minor); got != lang.StanVersion {
		t.Errorf("CmdStan's clients see Stan %s, the language is that of Stan %s", got, lang.StanVersion)
	}
}
