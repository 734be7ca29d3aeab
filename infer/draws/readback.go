package draws

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/internal/files"
)

// ReadBack limits the memory of the store. When the store would exceed limit bytes, it drops its
// draws and reads them from the journals of the chains from then on. The store must be empty, and
// every draw must be added to its journal before it is added to the store.
//
// The files stay open and may be removed meanwhile; [Store.Close] closes them. On Windows, where
// that is impossible, ReadBack does nothing.
func (s *Store) ReadBack(journals []*Journal, limit int) {
	if runtime.GOOS == "windows" || s.warmup == nil {
		return
	}
	s.back = &readBack{journals: journals, left: limit, main: s}
	s.warmup.back = s.back
}

// Err is the first error in reading draws back. From then on all values are NaN.
func (s *Store) Err() error {
	if s.back == nil {
		return nil
	}
	s.back.mu.Lock()
	defer s.back.mu.Unlock()
	return s.back.err
}

// Close closes the files from which draws are read back.
func (s *Store) Close() error {
	if s.back == nil {
		return nil
	}
	s.back.mu.Lock()
	defer s.back.mu.Unlock()
	var errs []error
	for _, f := range s.back.files {
		errs = append(errs, f.Close())
	}
	s.back.files, s.back.blocks = nil, [2]block{}
	if s.counts != nil && s.back.err == nil {
		s.back.err = errors.New("draws: the store is closed")
	}
	return errors.Join(errs...)
}

// readBack reads draws for a Store and the store of its warm-up.
type readBack struct {
	journals []*Journal
	main     *Store // the store of the sampling phase
	left     int    // bytes that may still be added in memory

	mu     sync.Mutex    // guards the fields below; locked after the stores' mutex
	files  []*files.File // by chain; the journals may be closed
	blocks [2]block      // the most recently used first
	err    error
}

// block is a cache of some neighbouring quantities of all draws, since readers ask for quantities
// in order. There are two blocks, because several goroutines may read on both sides of a border.
type block struct {
	store    *Store
	from, to int         // range of quantities
	counts   []int       // number of draws of each chain when the block was read
	columns  [][]float64 // by chain: [quantity × count + draw]
}

// blockSize is about the number of bytes of a block.
const blockSize = 64 << 20

// grown records that the stores hold n more numbers. If these exceed the limit, it drops the draws
// from memory and opens the journals.
func (b *readBack) grown(n int) error {
	if b == nil {
		return nil
	}
	if b.left -= 8 * n; b.left >= 0 {
		return nil
	}
	for _, j := range b.journals {
		f, err := files.Open(j.path)
		if err != nil {
			return fmt.Errorf("cannot read draws back: %w", err)
		}
		b.files = append(b.files, f)
	}
	for _, s := range []*Store{b.main, b.main.warmup} {
		counts := make([]int, len(s.chains))
		for i := range counts {
			counts[i] = s.length(i)
		}
		s.counts = counts
		for i := range s.chains {
			s.chains[i].clear()
		}
	}
	return nil
}

// first is the index of the record with the first draw of a chain in store s.
func (b *readBack) first(s *Store, chain int) int {
	if s.warmup != nil { // the main store, or a snapshot of it
		return s.warmup.counts[chain]
	}
	return 0
}

// records reads n records of a chain in order, and calls take with the bytes from lo to hi of each.
func (b *readBack) records(chain, first, n, lo, hi int, take func(i int, bytes []byte)) error {
	if len(b.files) == 0 {
		return errors.New("draws: the store is closed")
	}
	if err := b.journals[chain].Flush(); err != nil {
		return err
	}
	size := b.journals[chain].key.recordSize()
	at := func(record int) int64 { return int64(journalHeader) + int64(record)*int64(size) }
	many := 1 // number of records read at a time
	if size <= 1<<12 || hi-lo > size/4 {
		many = max(1, (1<<20)/size)
	}
	var buffer []byte
	for i := 0; i < n; i += many {
		from, to := at(first+i)+int64(lo), at(first+min(i+many, n)-1)+int64(hi)
		buffer = slices.Grow(buffer[:0], int(to-from))[:to-from]
		if _, err := b.files[chain].ReadAt(buffer, from); err != nil {
			return fmt.Errorf("cannot read draws back from %s: %w", b.files[chain].Name(), err)
		}
		for k := i; k < min(i+many, n); k++ {
			take(k, buffer[(k-i)*size:][:hi-lo])
		}
	}
	return nil
}

// column appends a column, statistics first, of all draws of a chain.
func (b *readBack) column(dst []float64, s *Store, chain, i int) []float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := s.counts[chain]
	err := b.err
	before := len(dst)
	if q := i - len(s.columns.Statistics); err == nil && q >= 0 {
		var in *block
		if in, err = b.block(s, q); err == nil {
			return append(dst, in.columns[chain][(q-in.from)*n:][:n]...)
		}
	} else if err == nil {
		value := s.columns.Statistics[i].Value
		err = b.records(chain, b.first(s, chain), n, 0, journalFixed, func(_ int, bytes []byte) {
			d := decodeHead(bytes)
			dst = append(dst, value(&d))
		})
		if err == nil {
			return dst
		}
	}
	b.err = err
	dst = dst[:before]
	for range n {
		dst = append(dst, math.NaN())
	}
	return dst
}

// block returns the cached block with quantity q, or reads it.
func (b *readBack) block(s *Store, q int) (*block, error) {
	for i := range b.blocks {
		if k := &b.blocks[i]; k.store == s && k.from <= q && q < k.to && slices.Equal(k.counts, s.counts) {
			if i == 1 {
				b.blocks[0], b.blocks[1] = b.blocks[1], b.blocks[0]
			}
			return &b.blocks[0], nil
		}
	}
	total := 0
	for _, n := range s.counts {
		total += n
	}
	width := max(1, min(blockSize/max(1, 8*total), len(s.columns.Names)))
	k := b.blocks[1] // its memory is reused
	k.store, k.from, k.to = s, q-q%width, min(q-q%width+width, len(s.columns.Names))
	k.counts = slices.Clone(s.counts)
	k.columns = slices.Grow(k.columns[:0], len(k.counts))[:len(k.counts)]
	b.blocks[1], b.blocks[0] = b.blocks[0], block{}
	row := make([]float64, k.to-k.from)
	for chain, n := range k.counts {
		columns := slices.Grow(k.columns[chain][:0], n*len(row))[:n*len(row)]
		k.columns[chain] = columns
		lo := journalFixed + 8*k.from
		err := b.records(chain, b.first(s, chain), n, lo, lo+8*len(row), func(i int, bytes []byte) {
			decodeValues(row, bytes)
			for j, v := range row {
				columns[j*n+i] = v
			}
		})
		if err != nil {
			return nil, err
		}
	}
	b.blocks[0] = k
	return &b.blocks[0], nil
}

// draw reads one draw.
func (b *readBack) draw(s *Store, chain, i int) (statistics, values []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	values = make([]float64, len(s.columns.Names))
	if err == nil {
		err = b.records(chain, b.first(s, chain)+i, 1, 0, journalFixed+8*len(values), func(_ int, bytes []byte) {
			d := decodeHead(bytes)
			d.Chain = chain
			statistics, _ = s.columns.AppendStatistics(nil, &d)
			decodeValues(values, bytes[journalFixed:])
		})
	}
	if err != nil {
		b.err = err
		statistics = make([]float64, len(s.columns.Statistics))
		for _, v := range [][]float64{statistics, values} {
			for j := range v {
				v[j] = math.NaN()
			}
		}
	}
	return statistics, values
}
