package draws

import (
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// seedStates are states of a chain in warm-up and in sampling.
func seedStates(f *testing.F) [][]byte {
	var out [][]byte
	session, err := infer.NewSession(infertest.AR1(2, 0.5), infer.Config{
		Sampler: nuts.Sampler{}, Chains: 1, Warmup: 30, Draws: 2,
		Snapshot: func(s *infer.Snapshot) {
			text, err := encodeState(s)
			if err != nil {
				f.Fatal(err)
			}
			out = append(out, text)
		}, SnapshotEvery: -1,
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, err := range session.Draws(f.Context()) {
		if err != nil {
			f.Fatal(err)
		}
	}
	return [][]byte{out[5], out[len(out)-1]}
}
