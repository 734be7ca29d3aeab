package infer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// BenchmarkRun measures a whole run on a small target: the cost of a draw apart from its gradients.
func BenchmarkRun(b *testing.B) {
	for _, chains := range []int{1, 4} {
		b.Run(fmt.Sprintf("chains=%d", chains), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range infer.Run(context.Background(), infertest.EightSchools{}, infer.Config{Sampler: nuts.Sampler{}, Chains: chains}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
