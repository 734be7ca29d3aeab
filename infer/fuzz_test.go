package infer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// FuzzSnapshot resumes chains from snapshots that no chain has made. They must be refused or work,
// without a panic or an endless loop.
func FuzzSnapshot(f *testing.F) {
	samplers := []infer.Sampler{nuts.Sampler{}, ahmc.Sampler{StepSizePoints: 5, StepsPoints: 5}}
	config := func(kind byte) infer.Config {
		return infer.Config{Sampler: samplers[int(kind)%len(samplers)], Chains: 1, Warmup: 40, Draws: 10}
	}
	for kind := range samplers {
		cfg := config(byte(kind))
		n := 0
		cfg.SnapshotEvery = -1
		cfg.Snapshot = func(s *infer.Snapshot) {
			if n++; n%12 != 1 {
				return
			}
			text, err := s.GobEncode()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, byte(kind))
		}
		for _, err := range infer.Run(f.Context(), infertest.AR1(2, 0.5), cfg) {
			if err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, kind byte) {
		s := &infer.Snapshot{}
		if s.GobDecode(text) != nil {
			return
		}
		cfg := config(kind)
		cfg.Resume = []*infer.Snapshot{s}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		n := 0
		for _, err := range infer.Run(ctx, infertest.AR1(2, 0.5), cfg) {
			if err != nil && strings.Contains(err.Error(), "panic") {
				t.Fatal(err)
			}
			n++
		}
		if n > cfg.Warmup+cfg.Draws+2 || ctx.Err() != nil {
			t.Fatalf("%d draws, %v", n, ctx.Err())
		}
	})
}
