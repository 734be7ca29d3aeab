package ppl_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ppl-lang/ppl"
)

// A run whose clock stands still, but where it waits, makes the draws that it
// makes otherwise: nothing of it depends on time.
func TestStoppedClock(t *testing.T) {
	options := ppl.Options{Chains: 3, Warmup: 150, Draws: 200, Seed: 5, SigFigs: 17, TargetESS: 100000, Resumable: true}
	options.Output = filepath.Join(t.TempDir(), "m")
	want, err := ppl.Sample(context.Background(), bind(t, pair, nil), options)
	if err != nil {
		t.Fatal(err)
	}
	p := bind(t, pair, nil)
	options.Output = filepath.Join(t.TempDir(), "m")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := ppl.Sample(t.Context(), p, options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Files {
			if rows(t, got.Files[i]) != rows(t, want.Files[i]) {
				t.Errorf("%s differs", got.Files[i])
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("the run waited for %v", d)
		}
	})
}
