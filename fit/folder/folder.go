// Package folder reads and writes the files of a run in an output folder, except the draws:
// run.json, the text of the model and the data. fit.ReadFit reads the draws.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	folder.go   Record, which run.json holds; the texts of the model, the data
//	config.go   Config: the configuration in a record
//	density.go  Density: the result of the self-check in a record
//	replace.go  a run that replaces an earlier one in the same folder
package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/source"
)

// RecordFile is the file in an output folder that describes the run.
const RecordFile = "run.json"

// RecordVersion is the version of the format of records. It increases if a field is removed or
// changes its meaning.
const RecordVersion = 1

// ReportFile is the file in an output folder with the report of the run, see package report.
const ReportFile = "report.html"

// maxKeptData is the maximum size of data that are copied to the folder, in bytes of JSON. The
// folder of larger data has only their path and digest.
const maxKeptData = 100 << 20

// DensitySuffix is the suffix of the file that records which program a resumable run trusts.
// [Record.Base] is the first part of its name.
const DensitySuffix = ".density"

// dataFile is the name of the copy of the data.
const dataFile = "data.json"

// Record describes a run in its output folder, in addition to the draws. It has everything needed
// to resume the run, to inspect it and to compute further quantities, even after the folder was
// moved.
type Record struct {
	SchemaVersion int `json:"schema_version"` // version of the record's format; 0 for records from before versions

	Program string `json:"program"` // program that made the run, with its version

	// Processors are the instruction sets that evaluated the model, as ppl version prints them.
	// Draws are the same to the last bit only for the same set. If a run was resumed on another
	// machine, it has several, in order of use.
	Processors []string `json:"processors,omitempty"`

	// The paths of the model and of the data as the user gave them, and the SHA-256 of these files.

	Model       string `json:"model"`                 // path of the model
	ModelSHA256 string `json:"model_sha256"`          // SHA-256 of the model
	Data        string `json:"data,omitempty"`        // path of the data
	DataSHA256  string `json:"data_sha256,omitempty"` // SHA-256 of the data

	// options of the command line; a repeated option has several values
	Options map[string][]string `json:"options"`
	// Configured is the path of a configuration file and the line, for each option that it set.
	Configured map[string]string `json:"configured,omitempty"`
	Complete   bool              `json:"complete"` // whether the run reached its end

	// Name is the beginning of the names of the files of draws: NAME_1.csv, …
	Name string `json:"name,omitempty"`

	// Format is the format of the draws, such as zarr; "" is CSV.
	Format string `json:"format,omitempty"`

	// Texts are the texts of the model, first, and of the files that it includes.
	Texts          []Text `json:"texts,omitempty"`
	DataFile       string `json:"data_file,omitempty"`        // copy of the data in the folder, as JSON; "" if there are no data or they are too large
	DataFileSHA256 string `json:"data_file_sha256,omitempty"` // SHA-256 of that file
	// counts that were taken from a table: N, or J=column
	Counts []string `json:"counts,omitempty"`

	// Levels are the levels of each factor of a table, in the order of their numbers from 1.
	Levels map[string][]string `json:"levels,omitempty"`

	// Zeros are the two levels of each factor whose numbers are 0 and 1.
	Zeros map[string][]string `json:"levels_from_0,omitempty"`

	// Read has the columns of a table that were read in a declared way, and how.
	Read map[string]string `json:"read,omitempty"`

	// Missing are the texts in a table that meant that there is no value.
	Missing []string `json:"missing,omitempty"`

	// Holes has the columns of a table whose missing values were not errors: drop or keep.
	Holes map[string]string `json:"na,omitempty"`

	// How the model was compiled and bound.

	Legacy     bool   `json:"legacy,omitempty"`      // whether the syntax of older versions of Stan was read
	Seed       uint64 `json:"seed,omitempty"`        // seed of the random numbers
	StanCompat string `json:"stan_compat,omitempty"` // version of Stan whose transforms are used

	// Config is the configuration of a run that a Go program saved; nil for a run of the
	// command, which has options.
	Config *Config `json:"config,omitempty"`

	// PlanFaults are the parts of the model that ppl interprets because of an error in ppl;
	// see the finding "plan-fault".
	PlanFaults []string `json:"plan_faults,omitempty"`
	// Cuts are the sums over integer parameters without an upper bound.
	Cuts []Count `json:"cuts,omitempty"`

	// Density is the comparison of the log density with the reference evaluator; nil in records
	// of older versions.
	Density *Density `json:"density,omitempty"`

	// These fields are known at the end of the run.

	// Chains are the adapted settings and the last position of each chain; a later run can start
	// from them.
	Chains  []infer.Adapted `json:"chains,omitempty"`
	Reports []Chain         `json:"reports,omitempty"` // what happened in each chain
	Elapsed float64         `json:"elapsed,omitempty"` // wall-clock seconds
}

// Source is the text of a model and everything else needed to compile it.
type Source struct {
	Name, Text   string
	Included     map[string]string // texts of included files, by the names in #include lines
	IncludePaths []string          // folders in which to search for other included files
}

// Text is a source text of the model in an output folder.
type Text struct {
	Name   string `json:"name"`             // name of the file, or the name in the #include line
	File   string `json:"file"`             // file in the folder
	SHA256 string `json:"sha256,omitempty"` // SHA-256 of the text
}

// Chain is the report of a chain.
type Chain struct {
	ID int `json:"id"` // number of the chain, from 1
	// number shared by chains that began at the same place; 0: none did
	Arrival    int            `json:"arrival,omitempty"`
	Warmup     Phase          `json:"warmup"`               // figures of warm-up
	Sampling   Phase          `json:"sampling"`             // figures of sampling
	Rejected   int            `json:"rejected,omitempty"`   // evaluations that the model rejected
	Rejections map[string]int `json:"rejections,omitempty"` // number of rejections by message
	Error      string         `json:"error,omitempty"`      // why the chain failed

	// draws whose generated quantities could not be computed
	Ungenerated       int    `json:"ungenerated,omitempty"`
	UngeneratedReason string `json:"ungenerated_reason,omitempty"` // why quantities were not generated

	Events []infer.Event `json:"events,omitempty"` // events that the draws do not show
	Notes  []string      `json:"notes,omitempty"`  // what warm-up chose, and why
}

// Phase is the account of warm-up or sampling.
type Phase struct {
	Transitions int     `json:"transitions"`        // number of transitions
	Gradients   int64   `json:"gradients"`          // evaluations of the gradient
	Divergences int     `json:"divergences"`        // divergent transitions
	Rejected    int     `json:"rejected,omitempty"` // evaluations that the model rejected
	Seconds     float64 `json:"seconds"`            // seconds
}

// Read reads the record in an output folder. If its checksum is wrong, it returns the record with
// an error. If the run is being replaced, the error is a [ReplacingError].
func Read(dir string) (*Record, error) {
	if is(dir, clearing) || is(dir, moving) {
		return nil, &ReplacingError{dir}
	}
	return read(dir)
}

func read(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordFile)
	text, err := source.ReadFile(path, maxRecord)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

// ReadFS is [Read] for the files of a folder in a file system.
func ReadFS(from fs.FS) (*Record, error) {
	text, err := fs.ReadFile(from, RecordFile)
	if err != nil {
		return nil, err
	}
	return parse(RecordFile, string(text))
}

// parse reads the text of a record.
func parse(path, text string) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.SchemaVersion > RecordVersion {
		return nil, fmt.Errorf("%s was written by a newer program (%s), whose records have version %d; this one reads up to %d. Update ppl", path, r.Program, r.SchemaVersion, RecordVersion)
	}
	if err := r.local(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, files.CheckSeal(path, []byte(text))
}

// maxRecord is the largest size of a record in bytes; it may have a dense metric for each chain.
const maxRecord = 1 << 30

// local returns an error if a record names files outside its folder. A folder may come from someone
// else, and the files that its record names are read, or removed when the run is overwritten.
func (r *Record) local() error {
	names := []string{r.DataFile}
	for _, t := range r.Texts {
		names = append(names, t.File)
	}
	for _, name := range names {
		if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("it names a file outside its folder: %s", name)
		}
	}
	if r.Name != "" && (r.Name != filepath.Base(r.Name) || !filepath.IsLocal(r.Name)) {
		return fmt.Errorf("the name of its files is not one: %s", r.Name)
	}
	return nil
}

// Write replaces the record in a folder, which must exist. It adds the processor's instruction set
// to the record.
func (r *Record) Write(dir string) error {
	text, err := r.sealed()
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(dir, RecordFile), text)
}

// sealed returns the text of the record.
func (r *Record) sealed() ([]byte, error) {
	if now := compile.CPULevel(); len(r.Processors) == 0 || r.Processors[len(r.Processors)-1] != now {
		r.Processors = append(r.Processors, now)
	}
	r.SchemaVersion = RecordVersion
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return files.Seal(text), nil
}

// Keep durably writes the model's text, its includes and the data to a folder, and records the
// names of these files.
func (r *Record) Keep(dir string, m *Source, values *data.Set) error {
	if err := files.MakeFolder(filepath.Join(dir, textFolder)); err != nil {
		return err
	}
	var written []*files.Temp
	defer func() {
		for _, t := range written {
			t.Abandon()
		}
	}()
	err := r.keep(m, values, func(name string, by func(io.Writer) error) (digest string, err error) {
		t, digest, err := files.TempBy(filepath.Join(dir, filepath.FromSlash(name)), by)
		if err == nil {
			written = append(written, t)
		}
		return digest, err
	})
	if err != nil {
		return err
	}
	return files.Commit(written...)
}

// Pack writes the files of a folder without the draws: those of Keep, and the record. create starts
// a file.
func (r *Record) Pack(m *Source, values *data.Set, create func(name string) (io.Writer, error)) error {
	err := r.keep(m, values, func(name string, by func(io.Writer) error) (digest string, err error) {
		w, err := create(name)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		if err := by(io.MultiWriter(w, h)); err != nil {
			return "", err
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	})
	if err != nil {
		return err
	}
	text, err := r.sealed()
	if err != nil {
		return err
	}
	w, err := create(RecordFile)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// keep passes the files of [Record.Keep] to write, by their names in the folder, and records them.
func (r *Record) keep(m *Source, values *data.Set, write func(name string, by func(io.Writer) error) (digest string, err error)) error {
	r.Texts, r.DataFile, r.DataFileSHA256, r.Levels, r.Zeros, r.Read, r.Missing, r.Holes = nil, "", "", nil, nil, nil, nil, nil
	keep := func(name, base, text string) error {
		file := textFolder + "/" + base
		r.Texts = append(r.Texts, Text{Name: name, File: file, SHA256: files.Digest(text)})
		_, err := write(file, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		return err
	}
	base := func(name string) string { return filepath.Base(filepath.FromSlash(name)) }
	if err := keep(base(m.Name), base(m.Name), m.Text); err != nil {
		return err
	}
	for i, name := range slices.Sorted(maps.Keys(m.Included)) {
		if err := keep(name, fmt.Sprintf("include_%d_%s", i+1, base(name)), m.Included[name]); err != nil {
			return err
		}
	}
	if values != nil && len(values.Names()) > 0 {
		reading := values.Reading()
		r.Levels, r.Zeros, r.Counts, r.Read, r.Missing = reading.Levels, reading.Zeros, nil, nil, nil
		for name, how := range reading.How {
			if r.Read == nil {
				r.Read = map[string]string{}
			}
			r.Read[name] = how.String()
		}
		for _, m := range reading.Missing {
			r.Missing = append(r.Missing, m.String())
		}
		for name, h := range reading.Holes {
			if r.Holes == nil {
				r.Holes = map[string]string{}
			}
			r.Holes[name] = h.String()
		}
		for _, c := range reading.Counts {
			r.Counts = append(r.Counts, c.String())
		}
		most := int64(math.MaxInt64)
		if r.Data != "" {
			most = maxKeptData
		}
		// Write directly to the file: the data may be large, and a copy would need as much memory
		// again.
		digest, err := write(dataFile, func(w io.Writer) error {
			return values.WriteJSON(&boundedWriter{w, most})
		})
		switch {
		case errors.Is(err, errTooLarge):
		case err != nil:
			return err
		default:
			r.DataFile, r.DataFileSHA256 = dataFile, digest
		}
	}
	return nil
}

var errTooLarge = errors.New("folder: the data are too large to be kept")

// boundedWriter returns an error after a number of bytes.
type boundedWriter struct {
	io.Writer
	left int64
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.left -= int64(len(p)); w.left < 0 {
		return 0, errTooLarge
	}
	return w.Writer.Write(p)
}

// Count is an integer parameter without an upper bound.
type Count struct {
	Name    string `json:"name"`              // name of the parameter
	Least   int64  `json:"least"`             // first value of the sums
	Last    int64  `json:"last"`              // last value of the sums at most points
	Deepest int64  `json:"deepest"`           // last value at the points that needed most
	Refused int    `json:"refused,omitempty"` // points, of all counts, that were rejected since they needed too many values
}

// Finish records the outcome of a run: the report of its chains, the parts of the model that are
// interpreted because of a fault in this program, and the final error.
func (r *Record) Finish(report infer.Report, planFaults []string, err error) {
	r.Complete = err == nil && !report.Interrupted
	r.Chains, r.Reports = report.Adapted(), nil
	r.Elapsed = report.Elapsed.Seconds()
	r.PlanFaults = planFaults
	for _, c := range report.Chains {
		j := Chain{ID: c.ID, Warmup: phaseOf(c.Warmup), Sampling: phaseOf(c.Sampling), Rejected: c.Rejected,
			Ungenerated: c.Ungenerated, UngeneratedReason: c.UngeneratedReason, Events: c.Events, Notes: c.Notes}
		for _, x := range c.Rejections {
			if j.Rejections == nil {
				j.Rejections = map[string]int{}
			}
			j.Rejections[x.Message] = x.Count
		}
		if c.Err != nil {
			j.Error = c.Err.Error()
		}
		j.Arrival = c.Arrival
		r.Reports = append(r.Reports, j)
	}
}

// Report copies the record of a chain to a report of package infer.
func (c Chain) Report(to *infer.ChainReport) {
	to.Warmup, to.Sampling, to.Rejected = c.Warmup.phase(), c.Sampling.phase(), c.Rejected
	to.Ungenerated, to.UngeneratedReason, to.Events, to.Notes = c.Ungenerated, c.UngeneratedReason, c.Events, c.Notes
	for message, n := range c.Rejections {
		to.Rejections = append(to.Rejections, infer.Rejection{Message: message, Count: n})
	}
	sorting.Stable(to.Rejections, func(a, b infer.Rejection) int { return b.Count - a.Count })
	if c.Error != "" {
		to.Err = errors.New(c.Error)
	}
	to.Arrival = c.Arrival
}

func phaseOf(p infer.Phase) Phase {
	return Phase{p.Transitions, p.Gradients, p.Divergences, p.Rejected, p.Elapsed.Seconds()}
}

func (p Phase) phase() infer.Phase {
	return infer.Phase{Transitions: p.Transitions, Gradients: p.Gradients, Divergences: p.Divergences, Rejected: p.Rejected, Elapsed: time.Duration(math.Round(p.Seconds * float64(time.Second)))}
}

// ChangedError says that the model or the data in the folder of a run have changed since the run,
// so the draws do not belong to them.
type ChangedError struct {
	File, What string
	Of         string // the file from which it was read; "" if unknown
}

// Error returns the message.
func (e *ChangedError) Error() string {
	text := fmt.Sprintf("%s is damaged or has been changed: it is not %s that the draws belong to", e.File, e.What)
	if e.Of != "" && e.Of != "-" {
		text += fmt.Sprintf(", which was read from %s", e.Of)
	}
	return text
}

// ReadModel reads the model in the folder of a run: its text, the name under which to compile it,
// and its includes by name. If an older version made the run, the folder has no text; ReadModel
// then reads the model's own file, whose includes are in the same folder.
func (r *Record) ReadModel(dir string) (*Source, error) {
	if len(r.Texts) == 0 {
		if r.Model == "" {
			return nil, fmt.Errorf("%s does not say of which model it is", dir)
		}
		text, err := source.ReadFile(r.Model, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot read the model: %w", err)
		}
		return &Source{Name: r.Model, Text: text, IncludePaths: []string{filepath.Dir(r.Model)}}, nil
	}
	return r.source(dir, func(name string) (string, error) {
		return source.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), maxRecord)
	})
}

// ReadModelFS is [Record.ReadModel] for the files of a folder in a file system, which must have the
// model.
func (r *Record) ReadModelFS(from fs.FS) (*Source, error) {
	return r.source("", func(name string) (string, error) {
		text, err := fs.ReadFile(from, name)
		return string(text), err
	})
}

// source reads the texts of the model by read.
func (r *Record) source(dir string, read func(name string) (string, error)) (*Source, error) {
	s := &Source{Included: map[string]string{}}
	for i, t := range r.Texts {
		text, err := read(t.File)
		if err != nil {
			return nil, fmt.Errorf("cannot read the model that belongs to the draws: %w", err)
		}
		if t.SHA256 != "" && files.Digest(text) != t.SHA256 {
			return nil, &ChangedError{File: filepath.Join(dir, filepath.FromSlash(t.File)), What: "the model", Of: r.Model}
		}
		if i == 0 {
			s.Name, s.Text = t.Name, text
			continue
		}
		s.Included[t.Name] = text
	}
	return s, nil
}

// ReadData reads the data in the folder of a run. If they were too large to keep, it reads the
// original file, which must not have changed. o limits the resources. The record determines which
// columns are counted.
func (r *Record) ReadData(dir string, o data.Options) (*data.Set, error) {
	o, err := r.reading(dir, o)
	if err != nil {
		return nil, err
	}
	switch {
	case r.DataFile != "":
		path := filepath.Join(dir, filepath.FromSlash(r.DataFile))
		text, err := data.ReadText(path, o)
		if err != nil {
			return nil, err
		}
		return r.kept(path, text, o)
	case r.Data == "":
		return data.Empty(), nil
	}
	text, err := data.ReadText(r.Data, o)
	if err != nil {
		return nil, fmt.Errorf("the folder %s does not keep the data of the run, as they are large: %w", dir, err)
	}
	if files.Digest(text) != r.DataSHA256 {
		return nil, fmt.Errorf("the data in %s are not those of the run in %s, which does not keep them, as they are large", r.Data, dir)
	}
	return data.Parse(r.Data, text, o)
}

// ReadDataFS is [Record.ReadData] for the files of a folder in a file system, which must have the
// data.
func (r *Record) ReadDataFS(from fs.FS, o data.Options) (*data.Set, error) {
	o, err := r.reading("the archive", o)
	if err != nil || r.DataFile == "" {
		return data.Empty(), err
	}
	text, err := fs.ReadFile(from, r.DataFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the data that belong to the draws: %w", err)
	}
	return r.kept(r.DataFile, string(text), o)
}

// reading adds to o how the data of the run were read.
func (r *Record) reading(dir string, o data.Options) (data.Options, error) {
	o.Counts = data.ReadCounts(r.Counts)
	for name, text := range r.Read {
		how, err := data.ParseHow(text)
		if err != nil {
			return o, fmt.Errorf("the record of the run in %s is damaged: how to read %s: %w", dir, name, err)
		}
		if o.How == nil {
			o.How = map[string]data.How{}
		}
		o.How[name] = how
	}
	for _, text := range r.Missing {
		o.Missing = append(o.Missing, data.ReadMissing(text))
	}
	if r.Holes != nil {
		holes := r.holes()
		o.Holes = func(column string) data.Holes { return holes[column] }
	}
	return o, nil
}

// holes is the inverse of the strings in [Record.Holes].
func (r *Record) holes() map[string]data.Holes {
	out := map[string]data.Holes{}
	for name, text := range r.Holes {
		out[name], _ = data.ParseHoles(text)
	}
	return out
}

// kept parses the copy of the data.
func (r *Record) kept(path, text string, o data.Options) (*data.Set, error) {
	if r.DataFileSHA256 != "" && files.Digest(text) != r.DataFileSHA256 {
		return nil, &ChangedError{File: path, What: "the data", Of: r.Data}
	}
	s, err := data.ParseText(path, text, o)
	if err != nil {
		return nil, err
	}
	return s.Read(data.Reading{Levels: r.Levels, Zeros: r.Zeros, Counts: o.Counts, How: o.How, Missing: o.Missing, Holes: r.holes()}), nil
}

// Option returns the value of a command-line option; "" if it was not given.
func (r *Record) Option(name string) string {
	if v := r.Options[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// Base is the first part of the names of the files of draws.
func (r *Record) Base() string {
	if r.Name != "" {
		return r.Name
	}
	return BaseName(r.Model)
}

// Remove removes all files of the run from a folder: draws, tables, journals, model, data, the
// report and the record. If [New] made the folder, it removes that too.
func (r *Record) Remove(dir string) error {
	if err := r.removeFiles(dir); err != nil {
		return err
	}
	err := files.Remove(filepath.Join(dir, RecordFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && Final(dir) != dir {
		err = files.RemoveAll(dir)
	}
	if err != nil {
		err = fmt.Errorf("cannot remove the earlier run: %w", err)
	}
	return err
}

// ofChain reports whether a file belongs to a chain of the run: whether its name is the base, _, a
// number and an extension.
func (r *Record) ofChain(name string) bool {
	rest, ok := strings.CutPrefix(name, r.Base()+"_")
	digits := strings.TrimLeft(rest, "0123456789")
	return ok && len(digits) < len(rest) && strings.HasPrefix(digits, ".")
}

// removeFiles removes the files of the run, except the record.
func (r *Record) removeFiles(dir string) error {
	if err := r.Tidy(dir); err != nil {
		return err
	}
	// Do not follow links out of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	remove := func(name string) {
		if err := files.RemoveIn(root, filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("cannot remove the earlier run: %w", err))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if r.ofChain(e.Name()) && !e.IsDir() {
			remove(e.Name())
		}
	}
	if r.Format != "" {
		// Remove a folder only if it is a store: another folder of this name may belong to the
		// user.
		store := filepath.Join(dir, r.store())
		switch info, err := os.Lstat(store); {
		case err != nil:
		case !info.IsDir():
			remove(r.store())
		case zarr.Is(store):
			if err := files.RemoveAll(store); err != nil {
				errs = append(errs, fmt.Errorf("cannot remove the earlier run: %w", err))
			}
		}
	}
	tables, _ := fs.Glob(root.FS(), TableFolder+"/*.csv")
	for _, name := range tables {
		remove(name)
	}
	remove(TableFolder)
	for _, t := range r.Texts {
		remove(t.File)
	}
	remove(textFolder)
	if r.DataFile != "" {
		remove(r.DataFile)
	}
	remove(r.Base() + DensitySuffix)
	remove(ReportFile)
	return errors.Join(errs...)
}

// store returns the name of the file or folder with the draws of all chains, for a format that has
// one for all.
func (r *Record) store() string { return r.Base() + "." + r.Format }

// Tidy removes what killed processes have left in a folder: temporary files and stores and, if the
// run is complete, the files for resuming it. It may be called repeatedly. The caller must be the
// only user of the folder.
func (r *Record) Tidy(dir string) error {
	errs := []error{
		files.RemoveTemps(dir, func(name string) bool {
			return name == RecordFile || name == dataFile || r.Format != "" && name == r.store() || r.ofChain(name)
		}),
		files.RemoveTemps(filepath.Join(dir, textFolder), func(string) bool { return true }),
		files.RemoveTemps(filepath.Join(dir, TableFolder), func(string) bool { return true }),
	}
	if r.Complete {
		entries, err := files.ReadFolder(dir)
		errs = append(errs, err)
		for _, e := range entries {
			if base, ok := draws.JournalOf(e.Name()); ok && r.ofChain(e.Name()) {
				errs = append(errs, draws.RemoveJournal(filepath.Join(dir, base)))
			}
		}
	}
	return errors.Join(errs...)
}

// Folders within an output folder.
const (
	textFolder  = "model"  // the model and the files that it includes
	TableFolder = "tuning" // tables of kernels; separate from the draws, because readers take all CSV files of a folder for chains
)

// BaseName returns the first part of the names of a run's files: the name of the model's file
// without folder and extension. It replaces characters that a record cannot store.
func BaseName(path string) string {
	name := strings.ToValidUTF8(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), "_")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name)
	if name == "" { // the file is called .stan
		return "model"
	}
	return name
}
