package dense

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"testing"
)

func TestHash(t *testing.T) {
	each(t, func(t *testing.T, k *Kernels) {
		h := fnv.New64a()
		for _, n := range append([]int{130, 200, 255, 256, 300, 400, 499, 500, 513, 600, 767, 768, 771, 900, 1025}, sizes...) {
			a, adj := positive(n), positive(n)
			l, d := nans(n*n), nans(n*n)
			w := nans(k.CholeskyWork(n))
			k.Cholesky(&Job{}, l, a, n, w)
			k.CholeskyAdjoint(&Job{}, d, l, adj, n, w)
			var b [8]byte
			for _, x := range append(l, d...) {
				binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
				h.Write(b[:])
			}
			fmt.Println(n, h.Sum64())
		}
	})
}
