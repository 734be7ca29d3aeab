package draws

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// Store holds the draws of several chains, statistics and values, in blocks of
// rows for each chain, or reads them back from journals, see [Store.ReadBack]. Draws
// may be added while others read: all methods are safe for concurrent use. It
// satisfies diagnose.Draws and diagnose.Statistics.
//
// Warm-up draws, if added, are kept apart: Len, Column and the like concern
// the draws of the sampling phase; [Store.Warmup] gives the others.
type Store struct {
	columns Columns
	warmup  *Store // same columns; nil in a store of warm-up draws

	mu     *sync.RWMutex // that of the store of warm-up draws too
	chains []rows        // by chain
	added  infer.Draw    // what Add looks at: a place for it that is not allocated each time

	back   *readBack // nil: all draws are in memory
	counts []int     // draws by chain, once they are read back
}

// maxChains is the largest number of chains that is taken for meant.
const maxChains = 1 << 20

// NewStore makes an empty store for the given number of chains, of about so many draws
// each (there may be more, or fewer, without cost). An error says that the name of a
// column is impossible.
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

// Add appends a draw, which is copied, to its chain. Values that a warm-up
// draw does not have are refused like those of the wrong number, and so is a
// draw for a store that was read from files.
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
	s.added = infer.Draw{} // whose slices are the caller's
	return s.back.grown(s.columns.width())
}

// AddRows appends draws to a chain: for each the statistics, then the values, as
// [Store.Draw] gives them. An error says that they are of another width.
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

// Warmup returns the store of the warm-up draws; it is empty where they were
// not added.
func (s *Store) Warmup() *Store {
	if s.warmup == nil {
		return s
	}
	return s.warmup
}

// Columns returns what is kept of a draw; not to be modified.
func (s *Store) Columns() Columns { return s.columns }

// Names returns the names of the values; not to be modified.
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

// Snapshot is the draws that there are now, for readers that need the same ones
// each time they ask while others are added. It takes no separate memory: draws
// are added after those that are there, never changed. Nothing is to be added to it.
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
