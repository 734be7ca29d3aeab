package draws

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/files"
)

// Header is the part of a CSV file before its draws.
type Header struct {
	Config  []Setting // as CmdStan: stan_version_major, …, model, start_datetime, the argument tree, stanc_version, stancflags
	Columns Columns
	SigFigs int // 1 … 18; 0: the shortest text that reads back as the same number
}

// Adaptation is the result of warm-up. Step size and metric are written in the block between
// warm-up and draws. The metric must be of a kind that CmdStan has, see [Stated].
//
// Notes are further comment lines of the form "name: value". They follow the draws, because
// CmdStanPy takes a comment after the metric for the end of the draws. CmdStanR takes "name =
// value" for a setting.
type Adaptation struct {
	StepSize float64
	Metric   infer.Metric
	Notes    []string
}

// Elapsed is the time that a chain took, not counting its start-up.
type Elapsed struct{ Warmup, Sampling time.Duration }

// Writer writes the CSV file of one chain. After a write error, its methods keep returning that
// error. It is not safe for concurrent use.
type Writer struct {
	out     *bufio.Writer
	name    string // name of the file, for errors
	columns Columns
	sigFigs int
	line    []byte
	row     []float64 // the statistics of a draw
	notes   []string  // written after the draws
	err     error
}

// NewWriter writes the header and returns a writer for the rest. To write a file, use [Create].
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	return newWriter(out, "CSV", h)
}

func newWriter(out io.Writer, name string, h Header) (*Writer, error) {
	if err := h.Columns.check(); err != nil {
		return nil, err
	}
	if h.SigFigs < 0 || h.SigFigs > maxSigFigs {
		return nil, fmt.Errorf("draws: the number of significant digits must be from 1 to %d, or 0 for exact numbers, but is %d", maxSigFigs, h.SigFigs)
	}
	w := &Writer{out: bufio.NewWriterSize(out, 1<<16), name: name, columns: h.Columns, sigFigs: h.SigFigs}
	for _, s := range h.Config {
		w.line = s.appendTo(w.line, 0)
	}
	for _, column := range h.Columns.StatisticNames() {
		w.line = append(append(w.line, column...), ',')
	}
	for _, column := range h.Columns.Names {
		w.line = append(append(w.line, column...), ',')
	}
	return w, w.endRow()
}

// write writes w.line to the file and empties it.
func (w *Writer) write() error {
	if w.err == nil {
		if _, err := w.out.Write(w.line); err != nil {
			w.err = fmt.Errorf("cannot write draws to %s: %w", w.name, err)
		}
	}
	w.line = w.line[:0]
	return w.err
}

// Draw writes one draw of warm-up (before Adaptation) or sampling. Missing values are an error,
// except in warm-up, where they are written as NaN.
func (w *Writer) Draw(d infer.Draw) error {
	values, err := w.columns.Values(&d)
	if err != nil && !d.Warmup {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	var problem error
	if w.row, problem = w.columns.AppendStatistics(w.row[:0], &d); problem != nil {
		return fmt.Errorf("%s: %w", w.name, problem)
	}
	for _, v := range w.row {
		w.number(v)
	}
	for i := range w.columns.Names {
		if err != nil {
			w.line = append(w.line, "nan,"...)
		} else {
			w.number(values[i])
		}
	}
	return w.endRow()
}

// Row writes given statistics and values, e.g. from a Store.
func (w *Writer) Row(statistics, values []float64) error {
	if len(statistics) != len(w.columns.Statistics) || len(values) != len(w.columns.Names) {
		return fmt.Errorf("%s: a draw of %d+%d values for %d+%d columns", w.name,
			len(statistics), len(values), len(w.columns.Statistics), len(w.columns.Names))
	}
	for _, v := range statistics {
		w.number(v)
	}
	for _, v := range values {
		w.number(v)
	}
	return w.endRow()
}

func (w *Writer) number(v float64) {
	w.line = append(appendNumber(w.line, v, w.sigFigs), ',')
}

func (w *Writer) endRow() error {
	if len(w.line) == 0 {
		return w.err
	}
	w.line[len(w.line)-1] = '\n' // in place of the last comma
	return w.write()
}

// Adaptation writes the block after warm-up, and keeps the notes for the end of the file. It is an
// error if CmdStan does not have the kind of metric.
func (w *Writer) Adaptation(a Adaptation) error {
	w.notes = append(w.notes, a.Notes...)
	w.comment("Adaptation terminated")
	w.comment("Step size = " + string(appendNumber(nil, a.StepSize, w.sigFigs)))
	list := func(values []float64) {
		w.line = append(w.line, "# "...)
		for i, v := range values {
			if i > 0 {
				w.line = append(w.line, ", "...)
			}
			w.line = appendNumber(w.line, v, w.sigFigs)
		}
		w.line = append(w.line, '\n')
	}
	m := a.Metric
	switch m.Kind {
	case infer.Unit:
		w.comment("No free parameters for unit metric")
	case infer.Diagonal:
		w.comment("Diagonal elements of inverse mass matrix:")
		list(m.Inverse)
	case infer.Dense:
		w.comment("Elements of inverse mass matrix:")
		if len(m.Inverse) != m.Dim*m.Dim {
			return fmt.Errorf("%s: a dense metric of dimension %d with %d elements", w.name, m.Dim, len(m.Inverse))
		}
		for row := range m.Dim {
			list(m.Inverse[row*m.Dim : (row+1)*m.Dim])
		}
	default:
		return fmt.Errorf("%s: readers of CmdStan's files know no metric of the kind %q", w.name, m.Kind)
	}
	return w.write()
}

// eventPrefix begins the note of an event; its JSON follows.
const eventPrefix = "event: "

// Event adds a note with an event.
func (w *Writer) Event(e infer.Event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%s: an event cannot be written: %w", w.name, err)
	}
	w.Note(eventPrefix + string(text))
	return nil
}

// Note adds a comment line to the notes at the end of the file.
func (w *Writer) Note(line string) { w.notes = append(w.notes, line) }

// writeNotes writes the notes kept so far.
func (w *Writer) writeNotes() {
	for _, note := range w.notes {
		w.comment(note)
	}
	w.notes = nil
}

// Comment writes comment lines, "# " before each.
func (w *Writer) Comment(lines ...string) error {
	for _, line := range lines {
		w.comment(line)
	}
	return w.write()
}

func (w *Writer) comment(text string) {
	w.line = append(w.line, "# "...)
	w.line = append(w.line, oneLine(text)...)
	w.line = append(w.line, '\n')
}

// Elapsed writes the block that ends a file, and everything still in memory.
func (w *Writer) Elapsed(e Elapsed) error {
	const title = " Elapsed Time: "
	seconds := func(before string, d time.Duration, phase string) {
		w.comment(before + string(appendNumber(nil, d.Seconds(), 6)) + " seconds (" + phase + ")")
	}
	blank := fmt.Sprintf("%*s", len(title), "")
	w.writeNotes()
	w.comment("")
	seconds(title, e.Warmup.Round(time.Millisecond), "Warm-up")
	seconds(blank, e.Sampling.Round(time.Millisecond), "Sampling")
	seconds(blank, e.Warmup.Round(time.Millisecond)+e.Sampling.Round(time.Millisecond), "Total")
	w.comment("")
	if w.write() == nil {
		if err := w.out.Flush(); err != nil {
			w.err = fmt.Errorf("cannot write draws to %s: %w", w.name, err)
		}
	}
	return w.err
}

// File is a Writer to a file that gets its final name when it is complete.
//
//	f, err := draws.Create(path, header)
//	…
//	defer f.Close() // after an error: leaves nothing behind
//	… f.Draw, f.Adaptation, f.Draw …
//	err = f.Finish(elapsed)
type File struct {
	*Writer
	temp   *files.Temp // nil if the file is written to directly
	device *files.File // file that is written to directly
	done   bool
}

// Create starts the CSV file of a chain. Until Finish it has a name that begins with path and
// ends in .tmp. Errors name the file.
func Create(path string, h Header) (*File, error) {
	failed := func(err error) (*File, error) {
		return nil, fmt.Errorf("cannot write draws to %s: %w", path, err)
	}
	f := &File{}
	final := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		final = target
		info, err := os.Stat(target)
		if err == nil && info.IsDir() {
			return failed(errors.New("it is a directory"))
		}
		if err == nil && !info.Mode().IsRegular() { // never replace a device or a pipe
			if f.device, err = files.Device(target); err != nil {
				return failed(err)
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
	}
	var err error
	if f.device == nil {
		if f.temp, err = files.CreateTemp(final); err != nil {
			return failed(err)
		}
	}
	if f.Writer, err = newWriter(f.output(), path, h); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// output is the file that is written to.
func (f *File) output() *files.File {
	if f.temp != nil {
		return f.temp.File
	}
	return f.device
}

// Finish writes the elapsed time and makes the file durable under its name. After an error there is
// no file of that name yet: Keep saves the part written so far, Close discards it.
func (f *File) Finish(e Elapsed) error {
	if err := f.End(e); err != nil {
		return err
	}
	return Commit(f)
}

// FinishWith is [File.Finish] with other comments at the end than the elapsed time of warm-up and
// sampling.
func (f *File) FinishWith(comments ...string) error {
	if f.done {
		return fmt.Errorf("%s: finished already", f.name)
	}
	f.writeNotes()
	err := f.Comment(comments...)
	if err == nil {
		err = f.Flush()
	}
	if err != nil {
		return err
	}
	return Commit(f)
}

// End writes the elapsed time. It is the first half of [File.Finish]; [Commit] is the second.
func (f *File) End(e Elapsed) error {
	if f.done {
		return fmt.Errorf("%s: finished already", f.name)
	}
	return f.Elapsed(e)
}

// Commit makes files durable under their names. Call [File.End] on each first. After an error, some
// files may have their names and others not.
func Commit(all ...*File) error {
	var temps []*files.Temp
	for _, f := range all {
		if f.temp != nil {
			temps = append(temps, f.temp)
			continue
		}
		f.done = true
		if err := f.device.Close(); err != nil {
			return fmt.Errorf("cannot write draws to %s: %w", f.name, err)
		}
	}
	if err := files.Commit(temps...); err != nil {
		return fmt.Errorf("cannot write draws: %w", err)
	}
	for _, f := range all {
		f.done = true
	}
	return nil
}

// Restate replaces the value of a setting at the head of an unfinished file, such as the number of
// draws of a run that ended early. Blanks fill the rest of the line, so that nothing moves. A value
// that does not fit is an error; reserve space with [Setting.Room]. Restate does nothing if the
// file is a pipe or has no such setting.
func (f *File) Restate(name, value string) error {
	if f.done || f.temp == nil {
		return nil
	}
	if err := f.Flush(); err != nil {
		return err
	}
	lines := bufio.NewReader(io.NewSectionReader(f.temp, 0, math.MaxInt64))
	for at := int64(0); ; {
		line, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "#") {
			return nil
		}
		text := strings.TrimRight(line, "\r\n")
		if s, _, ok := parseSetting(text[1:]); ok && !s.Group && s.Name == name {
			from := strings.Index(text, "=") + 2
			if s.Value == value {
				return nil
			}
			if from+len(value) > len(text) {
				return fmt.Errorf("%s: there is no room for %q at %s in the head of the file", f.name, value, name)
			}
			text = fmt.Sprintf("%-*s", len(text)-from, value)
			if _, err := f.temp.WriteAt([]byte(text), at+int64(from)); err != nil {
				return fmt.Errorf("cannot write draws to %s: %w", f.name, err)
			}
			return nil
		}
		at += int64(len(line))
	}
}

// Flush hands all written rows to the operating system. They can then be read, under the file's
// temporary name, even if the program is killed.
func (w *Writer) Flush() error {
	if w.err == nil {
		if err := w.out.Flush(); err != nil {
			w.err = fmt.Errorf("cannot write draws to %s: %w", w.name, err)
		}
	}
	return w.err
}

// Keep saves a file that could not be completed, for instance on a full disk: it cuts the file
// after its last complete line and gives it its name. A file without any draw is removed. After
// Finish it does nothing. The result says whether there is a file; with an error, the file may
// exist but not be durable.
func (f *File) Keep() (bool, error) {
	if f.done || f.temp == nil {
		return false, nil
	}
	f.out.Flush() // writes as much as possible
	f.done = true
	whole, rows, err := wholeLines(io.NewSectionReader(f.temp, 0, math.MaxInt64))
	if err == nil && rows < 2 { // the first row has the names of the columns
		return false, f.temp.Abandon()
	}
	if err == nil {
		err = f.temp.Cut(whole)
	}
	err = errors.Join(err, f.temp.Keep())
	if err != nil {
		return true, fmt.Errorf("the draws in %s may not be whole: %w", f.name, err)
	}
	return true, nil
}

// wholeLines finds the end of the last complete line of a file, and counts the lines that are not
// comments.
func wholeLines(file io.Reader) (end int64, rows int, err error) {
	buffer := make([]byte, 1<<16)
	at, start, comment := int64(0), true, false
	for {
		n, err := file.Read(buffer)
		for _, b := range buffer[:n] {
			at++
			if start {
				start, comment = false, b == '#'
			}
			if b == '\n' {
				end, start = at, true
				if !comment {
					rows++
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return end, rows, nil
		case err != nil:
			return 0, 0, err
		}
	}
}

// Close discards an unfinished file and removes it. After Finish it does nothing.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.temp == nil {
		return f.device.Close()
	}
	return f.temp.Abandon()
}

// Path returns CmdStan's name for the file of a chain: base for a single chain, else base with _ID
// before its extension.
func Path(base string, id, chains int) string {
	if chains == 1 {
		return base
	}
	extension := filepath.Ext(base)
	return fmt.Sprintf("%s_%d%s", base[:len(base)-len(extension)], id, extension)
}
