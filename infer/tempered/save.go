package tempered

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// saved is the data that SaveState writes. A kernel is not saved within a round of warm-up.
type saved struct {
	Ready, Found  bool
	Fitted, Broad []Component
	Levels        []savedLevel
	Cold          int
	Replicas      []savedReplica
	Odd           bool
	Scans         int
	Rejected      []float64
	Restarts      [2]int
	Length, In    int
	Sums          [][]sum
}

type savedLevel struct {
	Beta, Step float64
	Metric     infer.Metric
	Accept     float64
	Leapfrogs  int
}

type savedReplica struct {
	Position, Score []float64
	Log             float64
	From            int
}

// SaveState implements [infer.Resumable].
func (k *Kernel) SaveState() ([]byte, error) {
	s := saved{Ready: k.ready()}
	if s.Ready {
		s.Fitted = k.fitted.Components()
		if k.broad != nil {
			s.Broad = k.broad.Components()
		}
		for _, l := range k.levels {
			s.Levels = append(s.Levels, savedLevel{l.beta, l.step, l.h.inner.Metric(), l.accept, l.leapfrogs})
		}
		for _, r := range k.replicas {
			log, score := ofTarget(r.point)
			s.Replicas = append(s.Replicas, savedReplica{r.point.Position, score, log, int(r.from)})
		}
		for _, p := range k.account {
			s.Rejected = append(s.Rejected, p.rejected)
		}
		s.Found, s.Cold, s.Odd, s.Scans, s.Restarts = k.found, k.cold, k.odd, k.scans, k.restarts
		s.Length, s.In, s.Sums = k.evidence.length, k.evidence.in, k.evidence.sums
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(s)
	return out.Bytes(), err
}

var errSaved = errors.New("tempered: the saved state of the kernel makes no sense: was the run started by another version?")

// LoadState implements [infer.Resumable].
func (k *Kernel) LoadState(_ infer.Hamiltonian, state []byte) error {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("tempered: the saved state of the kernel cannot be read: %w", err)
	}
	if !s.Ready {
		return nil
	}
	d := k.target.Dim()
	if err := s.check(d); err != nil {
		return err
	}
	var err error
	if k.fitted, err = NewMixture(s.Fitted); err != nil {
		return err
	}
	k.broad = nil
	if len(s.Broad) > 0 {
		if k.broad, err = NewMixture(s.Broad); err != nil {
			return err
		}
	}
	var rungs []rung
	for _, l := range s.Levels {
		rungs = append(rungs, rung{l.Beta, l.Metric, l.Step})
	}
	if err := k.build(rungs[:s.Cold+1], rungs[s.Cold+1:]); err != nil {
		return err
	}
	k.replicas = nil
	for i, r := range s.Replicas {
		z := newPoint(d)
		copy(z.Position, r.Position)
		copy(z.Cache[d:], r.Score)
		z.Cache[2*d] = r.Log
		k.levels[i].h.enter(z)
		k.replicas = append(k.replicas, &replica{z, origin(r.From)})
	}
	k.reset()
	for i, l := range s.Levels {
		k.levels[i].accept, k.levels[i].leapfrogs = l.Accept, l.Leapfrogs
	}
	for i, r := range s.Replicas {
		k.replicas[i].from = origin(r.From)
	}
	for i, v := range s.Rejected {
		k.account[i].rejected = v
	}
	k.found, k.odd, k.scans, k.restarts = s.Found, s.Odd, s.Scans, s.Restarts
	k.evidence = evidence{pairs: len(s.Levels) - 1, length: s.Length, in: s.In, sums: s.Sums}
	return nil
}

// check returns an error for values that no kernel would have written.
func (s *saved) check(d int) error {
	n := len(s.Levels)
	bad := n == 0 || len(s.Replicas) != n || s.Cold < 0 || s.Cold >= n || len(s.Rejected) != n-1 || len(s.Fitted) == 0 ||
		s.Cold < n-1 && len(s.Broad) == 0 || s.Scans < 0 || s.Length < 1 || s.In < 0 || s.In > s.Length || len(s.Sums) > batches ||
		len(s.Sums) == 0 && s.In > 0 || s.Restarts[0] < 0 || s.Restarts[1] < 0
	for _, c := range slices.Concat(s.Fitted, s.Broad) {
		bad = bad || c.Normal.Dim != d
	}
	for i, l := range s.Levels {
		bad = bad || !(l.Beta >= 0 && l.Beta <= 1) || (l.Beta == 1) != (i == s.Cold) || !(l.Step > 0) || math.IsInf(l.Step, 1) || l.Metric.Dim != d
	}
	for i, r := range s.Replicas {
		bad = bad || len(r.Position) != d || len(r.Score) != d || r.From < int(fromTarget) || r.From > int(fromBroad) ||
			math.IsNaN(r.Log) || math.IsInf(r.Log, 1) || i < n && math.IsInf(r.Log, -1) && s.Levels[i].Beta > 0
	}
	for _, row := range s.Sums {
		bad = bad || len(row) != n-1
	}
	if bad {
		return errSaved
	}
	return nil
}
