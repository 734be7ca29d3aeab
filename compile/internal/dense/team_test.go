package dense

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// crew is a team of goroutines. It has the memory of each worker.
type crew [][]float64 // by worker, its memory

func (c crew) Each(n int, p Parts) {
	var wg sync.WaitGroup
	var taken atomic.Int32
	for _, own := range c {
		wg.Go(func() {
			for k := int(taken.Add(1)) - 1; k < n; k = int(taken.Add(1)) - 1 {
				p.Part(k, own)
			}
		})
	}
	wg.Wait()
}

// TestTeam checks that several workers compute the same bits as a single one, whatever their
// number, and reject the same matrices as not positive definite.
func TestTeam(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		for _, n := range short.Every(4, []int{1, 7, 40, inner, inner + 1, 2*inner + 5, 200, 300, blockedAdjoint + 3, 3*outer + 100, blockedFactor, blockedFactor + 40, 900}) {
			a, adj := positive(n), positive(n)
			l, d := nans(n*n), nans(n*n)
			work := nans(k.CholeskyWork(n))
			if !k.Cholesky(&Job{}, l, a, n, work) {
				t.Fatalf("%d: not positive definite", n)
			}
			k.CholeskyAdjoint(&Job{}, d, l, adj, n, work)
			bad := append([]float64{}, a...)
			bad[(n+1)*(n*2/3)] = -1
			for _, workers := range []int{1, 2, 3, 5} {
				c := make(crew, workers)
				for i := range c {
					c[i] = nans(k.PartWork(n))
				}
				j := &Job{Team: c}
				for range 3 {
					l2, d2 := nans(n*n), nans(n*n)
					if !k.Cholesky(j, l2, a, n, nans(len(work))) {
						t.Fatalf("%d: not positive definite for %d workers", n, workers)
					}
					k.CholeskyAdjoint(j, d2, l, adj, n, nans(len(work)))
					for i := range l {
						if math.Float64bits(l[i]) != math.Float64bits(l2[i]) || math.Float64bits(d[i]) != math.Float64bits(d2[i]) {
							t.Fatalf("order %d, %d workers: element %d is %v and %v, of who works alone %v and %v", n, workers, i, l2[i], d2[i], l[i], d[i])
						}
					}
					if k.Cholesky(j, l2, bad, n, work) {
						t.Errorf("%d: a negative pivot passes for %d workers", n, workers)
					}
				}
			}
		}
	})
}
