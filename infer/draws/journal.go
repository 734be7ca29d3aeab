package draws

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// Journal keeps the draws of one chain, exactly, in a file that is appended to
// while they are made, and the chain's latest infer.Snapshot in a second one.
// Together they are what a run can be resumed from after it has been killed at
// any moment: the second file is replaced as a whole, and only after the draws
// that it follows have been handed to the system. (A system that loses power
// may lose more.)
//
// It is not safe for concurrent use.
type Journal struct {
	path  string
	width int
	file  *os.File
	out   *bufio.Writer
	state string // path of the snapshot
	line  []byte
	err   error
}

// The files of a journal at base.
func journalPath(base string) string { return base + ".journal" }
func statePath(base string) string   { return base + ".state" }

const (
	journalMagic  = "pplJ0001"
	journalHeader = len(journalMagic) + 4
	journalFixed  = 8 + 8 + 7*8 // of a record, before the values
	maxJournal    = 1 << 28     // values of a draw
)

// CreateJournal starts the journal of a chain whose draws have so many values:
// base.journal and base.state, replacing what is there.
func CreateJournal(base string, values int) (*Journal, error) {
	if err := RemoveJournal(base); err != nil {
		return nil, err
	}
	file, err := os.Create(journalPath(base))
	if err != nil {
		return nil, fmt.Errorf("cannot keep draws for a later run: %w", err)
	}
	j := newJournal(base, values, file)
	j.line = append(j.line[:0], journalMagic...)
	j.line = binary.LittleEndian.AppendUint32(j.line, uint32(values))
	j.write()
	if err := j.Flush(); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

func newJournal(base string, values int, file *os.File) *Journal {
	return &Journal{path: journalPath(base), state: statePath(base), width: values, file: file, out: bufio.NewWriterSize(file, 1<<16)}
}

// OpenJournal continues the journal at base. snapshot is the last one saved,
// nil if there is none, or no journal at all: the chain then starts anew. The
// draws that came before it are handed to replay, in order, with their Chain
// set to the snapshot's; what followed, the resumed chain makes again.
func OpenJournal(base string, values int, replay func(infer.Draw) error) (j *Journal, snapshot *infer.Snapshot, err error) {
	snapshot, err = readState(statePath(base))
	if err != nil {
		return nil, nil, err
	}
	if snapshot == nil {
		j, err = CreateJournal(base, values)
		return j, nil, err
	}
	file, err := os.OpenFile(journalPath(base), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot resume: %w", err)
	}
	at, err := read(bufio.NewReaderSize(file, 1<<16), values, snapshot, replay)
	if err == nil {
		err = file.Truncate(at)
	}
	if err == nil {
		_, err = file.Seek(at, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("cannot resume from %s: %w", journalPath(base), err)
	}
	return newJournal(base, values, file), snapshot, nil
}

// read replays the draws before a snapshot and returns where they end.
func read(in io.Reader, values int, s *infer.Snapshot, replay func(infer.Draw) error) (int64, error) {
	head := make([]byte, journalHeader)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(journalMagic)]) != journalMagic {
		return 0, errors.New("it is not a journal of draws")
	}
	width := int(binary.LittleEndian.Uint32(head[len(journalMagic):]))
	if width != values || width > maxJournal {
		return 0, fmt.Errorf("its draws have %d values, those of the model %d", width, values)
	}
	record := make([]byte, journalFixed+8*width+4)
	for n := range s.Draws {
		if _, err := io.ReadFull(in, record); err != nil {
			return 0, fmt.Errorf("it holds %d draws instead of %d", n, s.Draws)
		}
		body := record[:len(record)-4]
		if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(record[len(body):]) {
			return 0, fmt.Errorf("draw %d is damaged", n+1)
		}
		word := func() uint64 {
			v := binary.LittleEndian.Uint64(body)
			body = body[8:]
			return v
		}
		number := func() float64 { return math.Float64frombits(word()) }
		d := infer.Draw{Chain: s.Chain}
		head := word()
		d.Iteration, d.Warmup = int(head>>1), head&1 == 1
		d.LogDensity = number()
		st := &d.Stats
		st.AcceptStat, st.StepSize, st.IntTime = number(), number(), number()
		st.TreeDepth, st.Leapfrogs, st.Divergent = int(number()), int(number()), number() == 1
		st.Energy = number()
		d.Values = make([]float64, width)
		for i := range d.Values {
			d.Values[i] = number()
		}
		if err := replay(d); err != nil {
			return 0, err
		}
	}
	return int64(journalHeader) + int64(s.Draws)*int64(len(record)), nil
}

// write hands the line on.
func (j *Journal) write() error {
	if j.err == nil {
		if _, err := j.out.Write(j.line); err != nil {
			j.err = fmt.Errorf("cannot write draws to %s: %w", j.path, err)
		}
	}
	return j.err
}

// Add appends a draw. Where it has no Values, its Position is kept in their
// place.
func (j *Journal) Add(d infer.Draw) error {
	values := d.Values
	if values == nil {
		values = d.Position
	}
	if len(values) != j.width {
		return fmt.Errorf("%s: a draw of %d values, not %d", j.path, len(values), j.width)
	}
	head := uint64(d.Iteration) << 1
	if d.Warmup {
		head |= 1
	}
	b := binary.LittleEndian.AppendUint64(j.line[:0], head)
	number := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	st := d.Stats
	divergent := 0.0
	if st.Divergent {
		divergent = 1
	}
	for _, v := range []float64{d.LogDensity, st.AcceptStat, st.StepSize, st.IntTime, float64(st.TreeDepth), float64(st.Leapfrogs), divergent, st.Energy} {
		number(v)
	}
	for _, v := range values {
		number(v)
	}
	j.line = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return j.write()
}

// Flush hands what was added to the system.
func (j *Journal) Flush() error {
	if j.err == nil {
		if err := j.out.Flush(); err != nil {
			j.err = fmt.Errorf("cannot write draws to %s: %w", j.path, err)
		}
	}
	return j.err
}

// Save replaces the snapshot. The draws before it must have been added.
func (j *Journal) Save(s *infer.Snapshot) error {
	if err := j.Flush(); err != nil {
		return err
	}
	err := writeWhole(j.state, func(out io.Writer) error { return gob.NewEncoder(out).Encode(s) })
	if err != nil {
		j.err = fmt.Errorf("cannot save the state of a chain to %s: %w", j.state, err)
	}
	return j.err
}

// Close closes the files, which stay.
func (j *Journal) Close() error { return errors.Join(j.Flush(), j.file.Close()) }

// RemoveJournal removes the files of a journal, if there are any.
func RemoveJournal(base string) error {
	for _, path := range []string{journalPath(base), statePath(base)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the state of an earlier run: %w", err)
		}
	}
	return nil
}

// readState reads a snapshot; nil if there is no file.
func readState(path string) (*infer.Snapshot, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	defer file.Close()
	s := &infer.Snapshot{}
	if err := gob.NewDecoder(bufio.NewReader(file)).Decode(s); err != nil {
		return nil, fmt.Errorf("cannot resume from %s: %w", path, err)
	}
	return s, nil
}

// writeWhole writes a file beside its place and renames it, so that there is
// always a whole one.
func writeWhole(path string, write func(io.Writer) error) error {
	file, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// WriteTable writes a table as CSV with a header line, exactly.
func WriteTable(path string, t infer.Table) error {
	err := writeWhole(path, func(out io.Writer) error {
		line := []byte{}
		for i, name := range t.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, name...)
		}
		for _, row := range slices.Concat([][]float64{nil}, t.Rows) {
			for i, v := range row {
				if i > 0 {
					line = append(line, ',')
				}
				line = appendNumber(line, v, 17)
			}
			line = append(line, '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
			line = line[:0]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
