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
	"io"
	"io/fs"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/files"
)

// Found describes the journal of a chain that is to be resumed: which draws are intact, where the
// chain can continue, and which draws would be lost.
type Found struct {
	// Snapshot is the state from which the chain continues: the intact snapshot that loses the
	// fewest draws, and the newest of these. If nil, the chain starts again and makes the same
	// draws.
	Snapshot *infer.Snapshot

	Good int     // intact draws in the journal, including those after Snapshot
	Kept int     // intact draws before Snapshot, which are replayed
	Lost []Range // draws before Snapshot that are damaged or missing

	// Damage lists the damage, file by file; ask the user before you resume. If nil, the journal is
	// in order, or in a state that a power failure explains.
	Damage []string

	// SetBack says that the files are in a state that a power failure explains: data that were not
	// synced are damaged. The chain continues from the last sync, or starts again if there was
	// none, and makes the same draws.
	SetBack bool

	base   string
	key    JournalKey
	good   []bool // by record
	whole  bool   // the newest snapshot and the journal's header are intact
	begun  bool   // the journal's header is intact, or there is no journal yet
	synced bool   // the journal was synced at least once
}

// DamagedChain is a chain with a damaged journal, and its number.
type DamagedChain struct {
	ID int
	*Found
}

// Range is the draws From to To of a chain, both included. They are counted from 1 in the order in
// which they were made, including saved warm-up draws.
type Range struct{ From, To int }

// Len is the number of draws.
func (r Range) Len() int { return r.To - r.From + 1 }

// String implements fmt.Stringer.
func (r Range) String() string {
	if r.From == r.To {
		return fmt.Sprint("draw ", r.From)
	}
	return fmt.Sprintf("draws %d to %d", r.From, r.To)
}

// FindJournal reads the journal at base to its end without changing it. Every draw has a checksum,
// which also covers its position and its journal, and so has the snapshot. Changed, truncated or
// swapped data are therefore detected. An error says that the files cannot be read, or that they
// belong to another run.
func FindJournal(base string, key JournalKey) (*Found, error) {
	f := &Found{base: base, key: key, begun: true}
	var snapshots []*infer.Snapshot
	for i, path := range []string{statePath(base), syncedPath(base)} {
		s, err := readState(path)
		f.synced = i == 1 && (s != nil || err != nil)
		var damaged *damageError
		switch {
		case errors.As(err, &damaged):
			f.Damage = append(f.Damage, damaged.Error())
			continue
		case err != nil:
			return nil, err
		case s == nil:
			continue
		}
		if s.ID != key.ID || s.Seed != key.Seed {
			return nil, fmt.Errorf("cannot resume: %s is the state of chain %d of a run with seed %d, not of chain %d with seed %d", path, s.ID, s.Seed, key.ID, key.Seed)
		}
		snapshots = append(snapshots, s)
		f.whole = f.whole || i == 0
	}
	file, err := files.Open(journalPath(base))
	if errors.Is(err, fs.ErrNotExist) {
		if len(snapshots) > 0 || f.Damage != nil {
			f.Damage = append(f.Damage, journalPath(base)+" is not there")
			f.whole, f.begun = false, false
		}
	} else if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	} else {
		defer file.Close()
		if err := f.readJournal(file); err != nil {
			return nil, fmt.Errorf("cannot resume from %s: %w", journalPath(base), err)
		}
	}
	f.choose(snapshots)
	return f, nil
}

// readJournal finds the draws that are intact.
func (f *Found) readJournal(file io.Reader) error {
	in := bufio.NewReaderSize(file, 1<<16)
	head := make([]byte, journalHeader)
	n, err := io.ReadFull(in, head)
	want := f.key.head()
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case n < len(head):
		f.Damage = append(f.Damage, journalPath(f.base)+" has no beginning")
		f.whole, f.begun = false, false
		return nil
	case bytes.Equal(head, want):
	case bytes.Equal(head[:len(journalMagic)], []byte("pplJ0001")), bytes.Equal(head[:len(journalMagic)], []byte("pplJ0002")):
		return errors.New("it was written by an earlier version of this program")
	default:
		// A header with a correct checksum belongs to another run.
		body := head[:len(head)-4]
		if crc32.ChecksumIEEE(body) == binary.LittleEndian.Uint32(head[len(body):]) && string(head[:len(journalMagic)]) == journalMagic {
			b := body[len(journalMagic):]
			return fmt.Errorf("its draws have %d values and are of chain %d with seed %d; the run's have %d and are of chain %d with seed %d",
				binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:]), binary.LittleEndian.Uint64(b[12:]), f.key.Values, f.key.ID, f.key.Seed)
		}
		f.Damage = append(f.Damage, "the beginning of "+journalPath(f.base)+" is damaged")
		f.whole, f.begun = false, false
	}
	header := crc32.ChecksumIEEE(want)
	record := make([]byte, f.key.recordSize())
	for {
		_, err := io.ReadFull(in, record)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the program was stopped while it wrote the last record
		}
		if err != nil {
			return err
		}
		good := f.sound(header, record)
		f.good = append(f.good, good)
		if good {
			f.Good++
		}
	}
}

// sound reports whether the checksum of the next record is correct.
func (f *Found) sound(header uint32, record []byte) bool {
	body := record[:len(record)-4]
	return recordSum(header, len(f.good), body) == binary.LittleEndian.Uint32(record[len(body):])
}

// choose finds the snapshot from which to continue.
func (f *Found) choose(snapshots []*infer.Snapshot) {
	for i, s := range snapshots {
		lost, kept := f.lost(s.Draws)
		if i == 0 || total(lost) < total(f.Lost) {
			f.Snapshot, f.Lost, f.Kept = s, lost, kept
		}
		if i == 0 && lost != nil {
			at := fmt.Sprintf("%s: %s", journalPath(f.base), list(lost))
			if len(f.good) < s.Draws {
				at += fmt.Sprintf(" (it holds %d of the %d draws before the state)", len(f.good), s.Draws)
			}
			f.Damage = append(f.Damage, at+" damaged or missing")
		}
	}
	switch {
	case f.Damage == nil:
	case f.whole && f.Lost == nil:
		f.Damage = nil // only the spare copy is damaged, or records that will be rewritten
	case f.synced && f.begun && f.Snapshot != nil && f.Lost == nil:
		f.Damage, f.SetBack = nil, true
	case !f.synced && (f.Snapshot == nil || f.Snapshot.Ran() < 2*SyncEvery): // the program was stopped before the first sync
		f.Anew()
		f.Damage, f.SetBack = nil, true
	}
}

// lost lists which of the first n draws are damaged or missing, and counts the others.
func (f *Found) lost(n int) (lost []Range, kept int) {
	add := func(from, to int) {
		if k := len(lost) - 1; k >= 0 && lost[k].To == from-1 {
			lost[k].To = to
		} else {
			lost = append(lost, Range{from, to})
		}
	}
	for i := range min(n, len(f.good)) {
		if f.good[i] {
			kept++
		} else {
			add(i+1, i+1)
		}
	}
	if n > len(f.good) {
		add(len(f.good)+1, n)
	}
	return lost, kept
}

func total(ranges []Range) int {
	n := 0
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// list names the first few of some ranges.
func list(ranges []Range) string {
	const most = 5
	var parts []string
	for _, r := range ranges[:min(most, len(ranges))] {
		parts = append(parts, r.String())
	}
	text := strings.Join(parts, ", ")
	if n := total(ranges[min(most, len(ranges)):]); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// Anew drops the snapshot and the draws, so that the chain starts again and makes the same draws.
func (f *Found) Anew() { f.Snapshot, f.Lost, f.Kept = nil, nil, 0 }

// Outcome describes in words what happens to the draws of a damaged journal if the chain continues
// from Snapshot.
func (f *Found) Outcome() string {
	text := fmt.Sprintf("%d draws are whole", f.Good)
	if f.Good == 1 {
		text = "1 draw is whole"
	}
	switch {
	case f.Snapshot == nil:
		return text + ", but not what the chain could go on from; it would start anew and make the same draws again"
	case f.Lost != nil:
		return fmt.Sprintf("%s; the chain would go on, without %s", text, list(f.Lost))
	}
	return fmt.Sprintf("%s; the chain would go on after draw %d and make what followed again: no draw would be lost", text, f.Kept)
}

// Resume opens the journal for appending after Snapshot. It permanently removes damaged draws, and
// those after Snapshot, which the chain makes again.
func (f *Found) Resume() (*Journal, error) {
	if f.Snapshot == nil {
		return CreateJournal(f.base, f.key)
	}
	if f.Lost != nil || f.Damage != nil {
		if err := f.repair(); err != nil {
			return nil, fmt.Errorf("cannot resume from %s: %w", journalPath(f.base), err)
		}
	}
	file, err := files.Edit(journalPath(f.base))
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	end := int64(journalHeader) + int64(f.Kept)*int64(f.key.recordSize())
	if err = file.Cut(end); err != nil {
		file.Close()
		return nil, fmt.Errorf("cannot resume from %s: %w", journalPath(f.base), err)
	}
	return newJournal(f.base, f.key, file, f.Kept), nil
}

// repair rewrites journal and snapshot without the damaged draws.
func (f *Found) repair() error {
	_, err := files.ReplaceBy(journalPath(f.base), buffered(func(out io.Writer) error {
		head := f.key.head()
		if _, err := out.Write(head); err != nil || f.Kept == 0 {
			return err
		}
		file, err := files.Open(journalPath(f.base))
		if err != nil {
			return err
		}
		defer file.Close()
		in := bufio.NewReaderSize(file, 1<<16)
		if _, err := in.Discard(journalHeader); err != nil {
			return err
		}
		header := crc32.ChecksumIEEE(head)
		record := make([]byte, f.key.recordSize())
		n := 0
		for i := 0; n < f.Kept; i++ {
			if _, err := io.ReadFull(in, record); err != nil {
				return err
			}
			if !f.good[i] {
				continue
			}
			body := record[:len(record)-4]
			binary.LittleEndian.PutUint32(record[len(body):], recordSum(header, n, body))
			if _, err := out.Write(record); err != nil {
				return err
			}
			n++
		}
		return nil
	}))
	if err != nil {
		return err
	}
	s := *f.Snapshot
	s.Draws = f.Kept // the number of draws that are now before it
	f.Snapshot = &s
	text, err := encodeState(&s)
	for _, path := range []string{statePath(f.base), syncedPath(f.base)} {
		if err == nil {
			err = files.Replace(path, text)
		}
	}
	return err
}

// Replay calls take with the draws of a journal in order, with their Chain set.
func (j *Journal) Replay(chain int, take func(infer.Draw) error) error {
	if err := j.Flush(); err != nil {
		return err
	}
	file, err := files.Open(j.path)
	if err != nil {
		return fmt.Errorf("cannot resume: %w", err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<16)
	if _, err := in.Discard(journalHeader); err != nil {
		return fmt.Errorf("cannot resume from %s: %w", j.path, err)
	}
	record := make([]byte, j.key.recordSize())
	for n := range j.count {
		if _, err := io.ReadFull(in, record); err != nil {
			return fmt.Errorf("cannot resume from %s: %w", j.path, err)
		}
		body := record[:len(record)-4]
		if recordSum(j.header, n, body) != binary.LittleEndian.Uint32(record[len(body):]) {
			return fmt.Errorf("cannot resume from %s: draw %d is damaged", j.path, n+1)
		}
		d := decodeHead(body)
		d.Chain, d.Values = chain, make([]float64, j.key.Values)
		decodeValues(d.Values, body[journalFixed:])
		if err := take(d); err != nil {
			return err
		}
	}
	return nil
}

// damageError says that a file is damaged.
type damageError struct{ path, what string }

func (e *damageError) Error() string { return e.path + " " + e.what }

// maxState is the largest size of a state file in bytes, most of which is a dense metric.
const maxState = 8 << 30

// readState reads a snapshot. It returns nil if there is no file, and a *damageError if the file is
// damaged.
func readState(path string) (*infer.Snapshot, error) {
	file, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	if info.Size() > maxState || !info.Mode().IsRegular() {
		return nil, &damageError{path, "is not the state of a chain"}
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	s, err := decodeState(text)
	if err != nil {
		return nil, &damageError{path, err.Error()}
	}
	return s, nil
}

// decodeState decodes a snapshot that encodeState encoded.
func decodeState(text []byte) (*infer.Snapshot, error) {
	if len(text) < stateHeader || string(text[:len(stateMagic)]) != stateMagic {
		return nil, errors.New("is damaged: it does not begin as the state of a chain")
	}
	size, sum, body := binary.LittleEndian.Uint64(text[len(stateMagic):]), text[stateHeader-sha256.Size:stateHeader], text[stateHeader:]
	if uint64(len(body)) != size {
		return nil, fmt.Errorf("is damaged: it holds %d of %d bytes", len(body), size)
	}
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("is damaged: its checksum is wrong")
	}
	s := &infer.Snapshot{}
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(s); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return s, nil
}
