package draws

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Store holds the draws of several chains, with statistics and values. It keeps them in memory or
// reads them back from journals, see [Store.ReadBack]. All methods are safe for concurrent use, so
// draws may be added while others read. It satisfies diagnose.Draws, diagnose.Tabular and
// diagnose.Statistics.
//
// Warm-up draws, if added, are kept in a separate store, which [Store.Warmup] returns. Len, Column
// and the like concern the draws of the sampling phase.
type Store struct {
	columns Columns
	warmup  *Store // same columns; nil in a store of warm-up draws

	mu     *sync.RWMutex // shared with the store of warm-up draws
	chains []rows        // by chain
	added  infer.Draw    // scratch for Add, to avoid an allocation per call

	back   *readBack // nil: all draws are in memory
	counts []int     // draws per chain, once they are read back
}

// maxChains is the largest number of chains that is accepted; more is certainly a mistake.
const maxChains = 1 << 20

// NewStore makes an empty store for the given number of chains. expected is the approximate number
// of draws of each; more or fewer cost nothing. An error says that a column has an invalid name.
func NewStore(columns Columns, chains, expected int) (*Store, error) {
	if err := columns.check(); err != nil {
		return nil, err
	}
	if chains < 0 || chains > maxChains {
		return nil, fmt.Errorf("draws: a store for %d chains", chains)
	}
	return newStore(Columns{slices.Clone(columns.Statistics), slices.Clone(columns.Names)}, chains, expected), nil
}

func newStore(columns Columns, chains, expected int) *Store {
	mu, width := &sync.RWMutex{}, columns.width()
	return &Store{
		columns: columns,
		mu:      mu,
		chains:  slices.Repeat([]rows{newRows(width, expected)}, chains),
		warmup:  &Store{columns: columns, mu: mu, chains: slices.Repeat([]rows{newRows(width, 0)}, chains)},
	}
}

// Add appends a copy of a draw to its chain. It refuses a draw without values or with the wrong
// number of them, also in warm-up, and any draw for a store that was read from files.
func (s *Store) Add(d infer.Draw) error {
	if d.Warmup && s.warmup != nil {
		return s.warmup.Add(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added = d
	values, err := s.columns.Values(&s.added)
	if err != nil {
		return err
	}
	if d.Chain < 0 || d.Chain >= len(s.chains) {
		return fmt.Errorf("draws: a draw of chain %d for a store of %d chains", d.Chain, len(s.chains))
	}
	if s.counts != nil {
		s.counts[d.Chain]++
		return nil
	}
	r := &s.chains[d.Chain]
	row := r.next()
	if _, err = s.columns.AppendStatistics(row[:0], &s.added); err != nil {
		return err
	}
	copy(row[len(s.columns.Statistics):], values)
	r.added()
	s.added = infer.Draw{} // its slices belong to the caller
	return s.back.grown(s.columns.width())
}

// AddRows appends draws to a chain. rows has for each draw the statistics, then the values, as in
// [Store.Draw]. An error says that their number does not match the columns.
func (s *Store) AddRows(chain int, rows []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	width := s.columns.width()
	switch {
	case chain < 0 || chain >= len(s.chains):
		return fmt.Errorf("draws: draws of chain %d for a store of %d chains", chain, len(s.chains))
	case s.counts != nil || s.warmup == nil:
		return errors.New("draws: rows for a store that is read back, or that of warm-up")
	case width == 0 || len(rows)%width != 0:
		return fmt.Errorf("draws: %d numbers for draws of %d each", len(rows), width)
	}
	r := &s.chains[chain]
	for ; len(rows) > 0; rows = rows[width:] {
		copy(r.next(), rows)
		r.added()
	}
	return nil
}

// Warmup returns the store of the warm-up draws, which is empty if none were added.
func (s *Store) Warmup() *Store {
	if s.warmup == nil {
		return s
	}
	return s.warmup
}

// Columns returns the columns of the store, which must not be modified.
func (s *Store) Columns() Columns { return s.columns }

// Names returns the names of the values, which must not be modified.
func (s *Store) Names() []string { return s.columns.Names }

// Chains returns the number of chains.
func (s *Store) Chains() int { return len(s.chains) }

// Len returns the number of draws of a chain so far.
func (s *Store) Len(chain int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.length(chain)
}

func (s *Store) length(chain int) int {
	if s.counts != nil {
		return s.counts[chain]
	}
	return s.chains[chain].n
}

// Snapshot returns a read-only view of the current draws, which does not change when more are
// added. It shares its memory with the store, as existing draws never change. Do not add draws to
// it.
func (s *Store) Snapshot() *Store {
	s.mu.RLock()
	defer s.mu.RUnlock()
	of := func(s *Store) *Store {
		out := &Store{columns: s.columns, mu: s.mu, back: s.back, counts: slices.Clone(s.counts), chains: slices.Clone(s.chains)}
		for i := range out.chains {
			r := &out.chains[i]
			r.blocks = slices.Clip(r.blocks)
		}
		return out
	}
	out := of(s)
	if s.warmup != nil {
		out.warmup = of(s.warmup)
	}
	return out
}

// Column appends one value of all draws of a chain so far to dst.
func (s *Store) Column(dst []float64, chain, quantity int) []float64 {
	return s.column(dst, chain, len(s.columns.Statistics)+quantity)
}

// Table appends values of all draws of a chain so far to dst: those from first to last−1, one after
// another. It implements diagnose.Tabular.
func (s *Store) Table(dst []float64, chain, first, last int) []float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.counts == nil {
		skip := len(s.columns.Statistics)
		return s.chains[chain].table(dst, skip+first, skip+last)
	}
	for i := first; i < last; i++ {
		dst = s.back.column(dst, s, chain, len(s.columns.Statistics)+i)
	}
	return dst
}

// Statistic appends a statistic of all draws of a chain so far to dst; ok is
// false if it is not among the columns.
func (s *Store) Statistic(dst []float64, chain int, name string) (column []float64, ok bool) {
	i := slices.IndexFunc(s.columns.Statistics, func(c sampler.Column) bool { return c.Name == name })
	if i < 0 {
		return dst, false
	}
	return s.column(dst, chain, i), true
}

func (s *Store) column(dst []float64, chain, i int) []float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	dst = slices.Grow(dst, s.length(chain))
	if s.counts != nil {
		return s.back.column(dst, s, chain, i)
	}
	return s.chains[chain].column(dst, i)
}

// Draw returns statistics and values of one draw, which the caller must not
// modify. They stay valid when draws are added.
func (s *Store) Draw(chain, draw int) (statistics, values []float64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.counts != nil {
		return s.back.draw(s, chain, draw)
	}
	row := s.chains[chain].at(draw)
	return row[:len(s.columns.Statistics):len(s.columns.Statistics)], row[len(s.columns.Statistics):]
}
