package draws

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/files"
)

// Journal stores the exact draws of one chain in a file that grows while they are made, and the
// chain's latest infer.Snapshot in a second file. With these a run can be resumed even if it is
// killed at any moment: the second file is replaced as a whole, and only after the draws before it
// were handed to the system.
//
// Every [SyncEvery], the draws are synced to the disk, and then a copy of the snapshot in a third
// file, which stays until the next sync. A power failure thus loses only the work since the last
// sync. Checksums cover all data, see [FindJournal].
//
// It may be used by several goroutines.
type Journal struct {
	path string
	base string
	key  JournalKey

	mu     sync.Mutex
	file   *files.File
	out    *bufio.Writer
	header uint32        // checksum of the header
	count  int           // number of records
	every  time.Duration // between syncs
	due    time.Time     // time of the next sync
	state  []byte        // the last saved snapshot, if it is not synced yet
	line   []byte
	err    error
}

// JournalKey identifies the chain and run of a journal, so that the journal of another run is not
// mistaken for it.
type JournalKey struct {
	ID     int    // number of the chain
	Seed   uint64 // seed of the run
	Values int    // number of values per draw
}

// SyncEvery is the time between syncs of a journal to the disk; the first sync is after a second.
const SyncEvery = 5 * time.Second

// The files of a journal at base.
func journalPath(base string) string { return base + ".journal" }
func statePath(base string) string   { return base + ".state" }
func syncedPath(base string) string  { return base + ".synced" } // the state at the last sync

// JournalOf returns the base of the journal that a file belongs to, according to its name.
func JournalOf(name string) (base string, ok bool) {
	for _, path := range []func(string) string{journalPath, statePath, syncedPath} {
		if base, ok := strings.CutSuffix(name, path("")); ok {
			return base, true
		}
	}
	return "", false
}

const (
	journalMagic  = "pplJ0003"
	journalHeader = len(journalMagic) + 4 + 8 + 8 + 4 // width, ID, seed, checksum
	journalFixed  = 8 + 8 + 8*8                       // bytes of a record before the values
	maxJournal    = 1 << 28                           // largest number of values per draw

	stateMagic  = "pplS0001"
	stateHeader = len(stateMagic) + 8 + sha256.Size
)

// head encodes the header of a journal.
func (k JournalKey) head() []byte {
	b := append([]byte(nil), journalMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(k.Values))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.ID))
	b = binary.LittleEndian.AppendUint64(b, k.Seed)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// recordSize is the number of bytes of a record.
func (k JournalKey) recordSize() int { return journalFixed + 8*k.Values + 4 }

// recordSum is the checksum of record n, which also covers its journal and its position there.
func recordSum(header uint32, n int, body []byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint64(place[:], uint64(n))
	return crc32.Update(crc32.Update(header, crc32.IEEETable, place[:]), crc32.IEEETable, body)
}

// CreateJournal starts the journal of a chain in base.journal and base.state. It replaces existing
// files.
func CreateJournal(base string, key JournalKey) (*Journal, error) {
	if key.Values < 0 || key.Values > maxJournal {
		return nil, fmt.Errorf("draws of %d values cannot be kept for a later run", key.Values)
	}
	if err := RemoveJournal(base); err != nil {
		return nil, err
	}
	file, err := files.Create(journalPath(base))
	if err != nil {
		return nil, fmt.Errorf("cannot keep draws for a later run: %w", err)
	}
	j := newJournal(base, key, file, 0)
	j.line = append(j.line[:0], key.head()...)
	j.write()
	if err := j.Flush(); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

func newJournal(base string, key JournalKey, file *files.File, count int) *Journal {
	return &Journal{
		path: journalPath(base), base: base, key: key,
		file: file, out: bufio.NewWriterSize(file, 1<<16), header: crc32.ChecksumIEEE(key.head()), count: count, every: SyncEvery, due: time.Now().Add(time.Second),
	}
}

// SetSyncEvery changes the time between syncs. Call it before the first [Journal.Save].
func (j *Journal) SetSyncEvery(d time.Duration) { j.every, j.due = d, time.Now().Add(d) }

// write writes j.line to the buffered file.
func (j *Journal) write() error {
	if j.err == nil {
		if _, err := j.out.Write(j.line); err != nil {
			j.err = fmt.Errorf("cannot write draws to %s: %w", j.path, err)
		}
	}
	return j.err
}

// Add appends a draw. If it has no Values, its Position is stored instead.
func (j *Journal) Add(d infer.Draw) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	values := d.Values
	if values == nil {
		values = d.Position
	}
	if len(values) != j.key.Values {
		return fmt.Errorf("%s: a draw of %d values, not %d", j.path, len(values), j.key.Values)
	}
	b := appendRecord(j.line[:0], &d, values)
	j.line = binary.LittleEndian.AppendUint32(b, recordSum(j.header, j.count, b))
	j.count++
	return j.write()
}

// appendRecord appends the record of a draw, without its checksum.
func appendRecord(b []byte, d *infer.Draw, values []float64) []byte {
	head := uint64(d.Iteration) << 1
	if d.Warmup {
		head |= 1
	}
	b = binary.LittleEndian.AppendUint64(b, head)
	number := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	st := d.Stats
	divergent := 0.0
	if st.Divergent {
		divergent = 1
	}
	for _, v := range []float64{d.LogDensity, st.AcceptStat, st.StepSize, st.IntTime, float64(st.TreeDepth), float64(st.Leapfrogs), divergent, st.Energy, float64(st.Restarts)} {
		number(v)
	}
	for _, v := range values {
		number(v)
	}
	return b
}

// decodeHead decodes the part of a record before its values.
func decodeHead(body []byte) infer.Draw {
	word := func() uint64 {
		v := binary.LittleEndian.Uint64(body)
		body = body[8:]
		return v
	}
	number := func() float64 { return math.Float64frombits(word()) }
	var d infer.Draw
	head := word()
	d.Iteration, d.Warmup = int(head>>1), head&1 == 1
	d.LogDensity = number()
	st := &d.Stats
	st.AcceptStat, st.StepSize, st.IntTime = number(), number(), number()
	st.TreeDepth, st.Leapfrogs, st.Divergent = int(number()), int(number()), number() == 1
	st.Energy, st.Restarts = number(), int(number())
	return d
}

// decodeValues decodes len(dst) numbers.
func decodeValues(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// Flush hands all added draws to the operating system.
func (j *Journal) Flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flush()
}

func (j *Journal) flush() error {
	if j.err == nil {
		if err := j.out.Flush(); err != nil {
			j.err = fmt.Errorf("cannot write draws to %s: %w", j.path, err)
		}
	}
	return j.err
}

// Save replaces the snapshot. Add the draws before it first.
func (j *Journal) Save(s *infer.Snapshot) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.flush(); err != nil {
		return err
	}
	text, err := encodeState(s)
	if err == nil {
		err = files.Swap(statePath(j.base), text)
	}
	if err != nil {
		return j.unsaved(err)
	}
	j.state = text
	if !time.Now().Before(j.due) {
		return j.sync()
	}
	return nil
}

func (j *Journal) unsaved(err error) error {
	j.err = fmt.Errorf("cannot save the state of a chain to %s: %w", statePath(j.base), err)
	return j.err
}

// Sync makes the last snapshot and the draws before it durable.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.flush(); err != nil {
		return err
	}
	return j.sync()
}

func (j *Journal) sync() error {
	if j.state == nil {
		return nil
	}
	// Sync the draws first: the snapshot states the number of draws before it.
	err := j.file.Sync()
	if err == nil {
		err = files.Replace(syncedPath(j.base), j.state)
	}
	if err != nil {
		return j.unsaved(err)
	}
	j.state, j.due = nil, time.Now().Add(j.every)
	return nil
}

// encodeState encodes a snapshot with its length and checksum.
func encodeState(s *infer.Snapshot) ([]byte, error) {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(s); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body.Bytes())
	b := append([]byte(nil), stateMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(body.Len()))
	return slices.Concat(b, sum[:], body.Bytes()), nil
}

// Close closes the file of draws. It does not remove the files.
func (j *Journal) Close() error { return errors.Join(j.Flush(), j.file.Close()) }

// RemoveJournal removes the files of a journal, if there are any. The draws are removed last: a
// chain without a state starts again, but a state without its draws would look damaged.
func RemoveJournal(base string) error {
	for _, path := range []string{statePath(base), syncedPath(base), journalPath(base)} {
		if err := files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the state of an earlier run: %w", err)
		}
	}
	return nil
}
