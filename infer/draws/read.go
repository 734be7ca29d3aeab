package draws

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/files"
)

// Contents is the contents of the CSV file of one chain.
type Contents struct {
	Config     []Setting // the tree at its head; see Lookup
	Columns    Columns   // Statistics are the leading columns whose names end in __
	Warmup     []float64 // [draw × columns], the statistics first
	Draws      []float64 // in the form of Warmup
	Adapted    bool      // the file has an adaptation block, with these contents:
	Adaptation Adaptation
	Events     []infer.Event
	Timed      bool // the file states the elapsed time
	Elapsed    Elapsed

	// Cut is the number of values in the last line if the file ends in the middle of it, else 0.
	// Such a line is not counted as a draw.
	Cut int
}

// Len returns the number of draws after warm-up.
func (c *Contents) Len() int {
	if c.Columns.width() == 0 {
		return 0
	}
	return len(c.Draws) / c.Columns.width()
}

// ReadFile reads a CSV file written by this package or by CmdStan's sampler. room limits its
// memory. Errors name the file and the line.
func ReadFile(path string, room *Room) (*Contents, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read draws: %w", err)
	}
	defer file.Close()
	var size int64
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return readNamed(path, bounded(file), size, room)
}

// ReadFS is [ReadFile] for a file in a file system.
func ReadFS(from fs.FS, name string, room *Room) (*Contents, error) {
	file, err := from.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read draws: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot read draws: %w", err)
	}
	return readNamed(name, file, info.Size(), room)
}

func readNamed(name string, in io.Reader, size int64, room *Room) (*Contents, error) {
	c, err := read(in, size, room)
	if err != nil {
		return nil, fmt.Errorf("cannot read draws from %s: %w", name, err)
	}
	return c, nil
}

// longestPipe is the largest number of bytes that is read from a file that is not regular.
const longestPipe = 1 << 30

// bounded returns a reader of the whole file. If it is a pipe or a device, which may have no end,
// the reader fails after longestPipe bytes.
func bounded(file *files.File) io.Reader {
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return file
	}
	return io.MultiReader(io.LimitReader(file, longestPipe), endless{file})
}

// endless fails if there is more to read.
type endless struct{ file io.Reader }

func (e endless) Read(p []byte) (int, error) {
	if n, err := e.file.Read(p[:min(1, len(p))]); n == 0 {
		return 0, err
	}
	return 0, errors.New("there is more than 1 GiB; write it to a file first")
}

// Read reads the CSV of one chain. If the text ends early (an interrupted run of CmdStan), Read
// returns the complete part without error, and drops an incomplete last line.
func Read(in io.Reader) (*Contents, error) { return read(in, 0, nil) }

// read reads the CSV of one chain from a file of size bytes; 0: unknown.
func read(in io.Reader, size int64, room *Room) (*Contents, error) {
	r := &reader{contents: &Contents{}, left: size, room: room}
	buffered := bufio.NewReaderSize(in, 1<<16)
	var line []byte
	for number := 1; ; number++ {
		var err error
		line = line[:0]
		for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
			var part []byte
			part, err = buffered.ReadSlice('\n')
			if len(line)+len(part) > cap(line) {
				// The line will be copied, whole or in parts.
				if err := room.Take(cap(line)+len(part), 3); err != nil {
					return nil, fmt.Errorf("line %d: %w", number, err)
				}
				line = slices.Grow(line, cap(line)+len(part))
			}
			line = append(line, part...)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		whole := err == nil
		r.left -= int64(len(line))
		text := string(bytes.TrimRight(line, "\r\n"))
		if problem := r.line(text, whole); problem != nil {
			return nil, fmt.Errorf("line %d: %w", number, problem)
		}
		if !whole {
			break
		}
	}
	return r.finish()
}

// reader is the state of reading between two lines.
type reader struct {
	contents *Contents
	header   bool // the header line has been read
	rows     []float64
	left     int64            // bytes of the file after this line; 0 or less if unknown
	metric   infer.MetricKind // kind of the metric whose elements the next comments hold
	room     *Room
}

func (r *reader) line(text string, whole bool) error {
	switch {
	case strings.HasPrefix(text, "#"):
		return r.comment(text[1:])
	case text == "":
		return nil
	case !r.header:
		r.header = true
		return r.names(text)
	}
	width := r.contents.Columns.width()
	if err := r.reserve(width, len(text)); err != nil {
		return err
	}
	before, count := len(r.rows), 0
	for field := range strings.SplitSeq(text, ",") {
		v, err := parseNumber(strings.TrimSpace(field))
		if err != nil && whole {
			return fmt.Errorf("%.40q is not a number", field)
		}
		if count < width {
			r.rows = append(r.rows, v)
		}
		count++
	}
	switch {
	case count == width && whole:
	case !whole:
		r.contents.Cut = count
		r.rows = r.rows[:before]
	default:
		return fmt.Errorf("%d values for %d columns", count, width)
	}
	return nil
}

// reserve reserves memory for a row if there is none left. At the first row it reserves memory for
// all rows expected in the rest of the file, estimated from the length of this line. Growing step
// by step would take up to three times the memory. If the first line misleads, the memory is at
// most twice the size of the file.
func (r *reader) reserve(width, line int) error {
	if cap(r.rows)-len(r.rows) >= width {
		return nil
	}
	rows := 1 + int(max(r.left, 0))/max(line, 4*width)
	more := (rows + rows/64) * width
	if r.rows != nil {
		more = max(width, len(r.rows)/2)
	}
	if err := r.room.Take(more, 8); err != nil {
		return err
	}
	r.rows = append(make([]float64, 0, len(r.rows)+more), r.rows...)
	return nil
}

func (r *reader) names(text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("its first line, %.40q, has characters that no text has", text)
	}
	c := &r.contents.Columns
	const header = 16 // bytes of a string header
	if err := r.room.Take(1+strings.Count(text, ","), header+2*8); err != nil {
		return err
	}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if strings.HasSuffix(name, "__") && len(c.Names) == 0 {
			c.Statistics = append(c.Statistics, sampler.Column{Name: name})
		} else {
			c.Names = append(c.Names, name)
		}
	}
	return c.check()
}

// commentMemory is the memory that a comment takes in addition to its text, in bytes. A number
// written with two characters takes four times as much as these.
const commentMemory = 64

// comment handles a comment line, which is given without its #.
func (r *reader) comment(text string) error {
	c := r.contents
	body := strings.TrimSpace(text)
	if err := r.room.Take(commentMemory+4*len(body), 1); err != nil {
		return err
	}
	if !r.header {
		if s, depth, ok := parseSetting(text); ok {
			c.Config = place(c.Config, s, depth)
		}
		return nil
	}
	if text, ok := strings.CutPrefix(body, eventPrefix); ok {
		var e infer.Event
		if json.Unmarshal([]byte(text), &e) == nil && e.Code != "" {
			c.Events = append(c.Events, e)
		}
		return nil
	}
	metric := r.metric
	if metric != infer.Dense {
		r.metric = ""
	}
	switch {
	case body == "Adaptation terminated":
		// The rows so far were warm-up.
		c.Adapted = true
		n := len(r.rows)
		c.Warmup, r.rows = r.rows[:n:n], r.rows[n:]
	case strings.HasPrefix(body, "Step size ="):
		v, err := parseNumber(strings.TrimSpace(strings.TrimPrefix(body, "Step size =")))
		if err != nil {
			return fmt.Errorf("the step size in %.60q is not a number", body)
		}
		c.Adaptation.StepSize = v
	case body == "No free parameters for unit metric":
		c.Adaptation.Metric = infer.Metric{Kind: infer.Unit}
	case body == "Diagonal elements of inverse mass matrix:":
		r.metric = infer.Diagonal
	case body == "Elements of inverse mass matrix:":
		r.metric = infer.Dense
	case strings.HasSuffix(body, "seconds (Warm-up)"):
		c.Timed = true
		c.Elapsed.Warmup = seconds(body)
	case strings.HasSuffix(body, "seconds (Sampling)"):
		c.Elapsed.Sampling = seconds(body)
	case strings.HasSuffix(body, "seconds (Total)"), body == "":
		r.metric = ""
	case metric != "":
		if values, ok := numbers(body); ok {
			m := &c.Adaptation.Metric
			m.Kind, m.Dim = metric, len(values)
			m.Inverse = append(m.Inverse, values...)
			return nil
		}
		r.metric = ""
		c.Adaptation.Notes = append(c.Adaptation.Notes, body)
	case c.Adapted && !c.Timed:
		c.Adaptation.Notes = append(c.Adaptation.Notes, body)
	}
	return nil
}

// numbers reads "a, b, c".
func numbers(text string) ([]float64, bool) {
	var values []float64
	for field := range strings.SplitSeq(text, ",") {
		v, err := parseNumber(strings.TrimSpace(field))
		if err != nil {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// seconds reads the number before "seconds"; 0 if there is none.
func seconds(text string) time.Duration {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "Elapsed Time: "), " seconds")
	v, err := parseNumber(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return time.Duration(v * float64(time.Second))
}

func (r *reader) finish() (*Contents, error) {
	if !r.header {
		return nil, errors.New("there is no header line")
	}
	c := r.contents
	c.Draws = r.rows
	if m := c.Adaptation.Metric; m.Kind == infer.Dense && len(m.Inverse) != m.Dim*m.Dim {
		return nil, fmt.Errorf("the inverse mass matrix has %d elements in rows of %d: the file is cut off, or damaged", len(m.Inverse), m.Dim)
	}
	return c, nil
}

// ReadStore reads one file per chain into a Store. All files must have the same columns.
func ReadStore(paths ...string) (*Store, error) {
	if len(paths) == 0 {
		return nil, errors.New("cannot read draws: no files")
	}
	var all []*Contents
	for _, path := range paths {
		c, err := ReadFile(path, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return NewStoreFrom(paths, all)
}

// NewStoreFrom makes a Store of the contents of one file per chain, and keeps their slices. There
// must be at least one file, and all must have the same columns. paths names the files in messages.
func NewStoreFrom(paths []string, all []*Contents) (*Store, error) {
	s := newStore(all[0].Columns, len(all), 0)
	for chain, c := range all {
		if !slices.Equal(c.Columns.StatisticNames(), s.columns.StatisticNames()) || !slices.Equal(c.Columns.Names, s.columns.Names) {
			return nil, fmt.Errorf("cannot read draws from %s: its columns are not those of %s", paths[chain], paths[0])
		}
		width := s.columns.width()
		s.chains[chain], s.warmup.chains[chain] = rowsOf(width, c.Draws), rowsOf(width, c.Warmup)
	}
	return s, nil
}
