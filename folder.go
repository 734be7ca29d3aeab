package ppl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/lang/source"
)

// RecordName is the file in an output folder that says how the run was made.
const RecordName = "run.json"

// ReportName is the file in an output folder that shows the run, see package report.
const ReportName = "report.html"

// maxKeptData is the size of data, in bytes as JSON, up to which a folder keeps
// them; of larger ones it has the place and the digest.
const maxKeptData = 100 << 20

// Record is what an output folder keeps of a run beside its draws: all that is
// needed to resume it, to look at it again, and to derive from it what the
// model implies, wherever the folder is moved.
type Record struct {
	Program string `json:"program"` // that made it, with its version

	// The model and the data as they were named, and the SHA-256 of the files.
	Model       string `json:"model"`
	ModelSHA256 string `json:"model_sha256"`
	Data        string `json:"data,omitempty"`
	DataSHA256  string `json:"data_sha256,omitempty"`

	Options  map[string][]string `json:"options"` // of the command line, those that may be repeated with all their values
	Complete bool                `json:"complete"`

	// Name begins the names of the files of draws: Name_1.csv, …
	Name string `json:"name,omitempty"`

	// Format is that of the draws: Zarr, or "" for CSV.
	Format Format `json:"format,omitempty"`

	// Texts are the model, first, and what it includes. DataFile is the data as
	// JSON; "" if there are none or they are too large, so that Data must be read.
	Texts    []KeptText `json:"texts,omitempty"`
	DataFile string     `json:"data_file,omitempty"`
	Counts   []string   `json:"counts,omitempty"` // what was counted in a table, N or J=column

	// Levels are the texts of the columns of a table that are factors, that of 1 first.
	Levels map[string][]string `json:"levels,omitempty"`

	// How the model was compiled and bound.
	Legacy     bool   `json:"legacy,omitempty"`
	Seed       uint64 `json:"seed,omitempty"`
	StanCompat string `json:"stan_compat,omitempty"`

	// PlanFaults are the parts of the model that are interpreted by a fault of this
	// program, see the finding "plan-fault".
	PlanFaults []string `json:"plan_faults,omitempty"`

	// At the end of the run: what chains have adapted and where they have ended,
	// what a later run can start from; how they have fared.
	Chains  []Adapted     `json:"chains,omitempty"`
	Reports []ChainRecord `json:"reports,omitempty"`
	Elapsed float64       `json:"elapsed,omitempty"` // seconds on the clock
}

// KeptText is a source text of the model in an output folder.
type KeptText struct {
	Name string `json:"name"` // of the file, or as an #include line has it
	File string `json:"file"` // in the folder
}

// ChainRecord is how a chain has fared.
type ChainRecord struct {
	ID         int            `json:"id"`
	Warmup     PhaseRecord    `json:"warmup"`
	Sampling   PhaseRecord    `json:"sampling"`
	Rejected   int            `json:"rejected,omitempty"` // evaluations
	Rejections map[string]int `json:"rejections,omitempty"`
	Error      string         `json:"error,omitempty"`

	Ungenerated       int    `json:"ungenerated,omitempty"` // draws whose generated quantities could not be computed
	UngeneratedReason string `json:"ungenerated_reason,omitempty"`
}

// PhaseRecord is the account of warm-up or sampling.
type PhaseRecord struct {
	Transitions int     `json:"transitions"`
	Gradients   int64   `json:"gradients"`
	Divergences int     `json:"divergences"`
	Seconds     float64 `json:"seconds"`
}

// ReadRecord reads the record in an output folder. With an error that says that
// its checksum is wrong there is a record too.
func ReadRecord(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordName)
	text, err := source.ReadFile(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.local(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, CheckSeal(path, []byte(text))
}

// maxRecord is the greatest length of a record: it has a dense metric for each chain.
const maxRecord = 1 << 30

// local refuses a record that names files outside its folder. Folders are handed on,
// and what a record names is read, and removed by those who overwrite it.
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

// Write replaces the record in a folder, which must exist.
func (r *Record) Write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, RecordName), Seal(text))
}

// replaceFile writes a file beside its place and renames it, so that there is
// always a whole one.
func replaceFile(path string, text []byte) error {
	err := os.WriteFile(path+".tmp", text, 0o666)
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		os.Remove(path + ".tmp")
	}
	return err
}

// Keep writes the text of the model, with what it includes, and the data to a
// folder and notes in the record where they are.
func (r *Record) Keep(dir string, m *Model, values *data.Set) error {
	folder := filepath.Join(dir, textFolder)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	r.Texts, r.DataFile, r.Levels = nil, "", nil
	for i, t := range m.texts {
		name := filepath.Base(filepath.FromSlash(t.Name))
		if i > 0 {
			name = fmt.Sprintf("include_%d_%s", i, name)
		}
		kept := KeptText{Name: t.Name, File: textFolder + "/" + name}
		if i == 0 {
			kept.Name = name
		}
		if err := replaceFile(filepath.Join(folder, name), []byte(t.Text)); err != nil {
			return err
		}
		r.Texts = append(r.Texts, kept)
	}
	r.Legacy = m.options.Legacy
	if values == nil || len(values.Names()) == 0 {
		return nil
	}
	r.Levels = values.Reading().Levels
	var b bytes.Buffer
	if err := values.WriteJSON(&b); err != nil {
		return err
	}
	if b.Len() > maxKeptData && r.Data != "" {
		return nil
	}
	r.DataFile = "data.json"
	return replaceFile(filepath.Join(dir, r.DataFile), b.Bytes())
}

// Finish notes what a run has come to; err is that of [Sample].
func (r *Record) Finish(f *Fit, err error) {
	r.Complete = err == nil && !f.Report.Interrupted
	r.Chains, r.Reports = f.Adapted(), nil
	r.Elapsed = f.Report.Elapsed.Seconds()
	r.PlanFaults = f.planFaults()
	for _, c := range f.Report.Chains {
		j := ChainRecord{ID: c.ID, Warmup: phaseRecord(c.Warmup), Sampling: phaseRecord(c.Sampling), Rejected: c.Rejected,
			Ungenerated: c.Ungenerated, UngeneratedReason: c.UngeneratedReason}
		for _, x := range c.Rejections {
			if j.Rejections == nil {
				j.Rejections = map[string]int{}
			}
			j.Rejections[x.Message] = x.Count
		}
		if c.Err != nil {
			j.Error = c.Err.Error()
		}
		r.Reports = append(r.Reports, j)
	}
}

func phaseRecord(p infer.Phase) PhaseRecord {
	return PhaseRecord{p.Transitions, p.Gradients, p.Divergences, p.Elapsed.Seconds()}
}

func (p PhaseRecord) phase() infer.Phase {
	return infer.Phase{Transitions: p.Transitions, Gradients: p.Gradients, Divergences: p.Divergences, Elapsed: time.Duration(p.Seconds * float64(time.Second))}
}

// ReadModel compiles the text that is kept in the folder of the run; of a run of
// an older version, which keeps none, that of the file.
func (r *Record) ReadModel(dir string) (*Model, error) {
	if len(r.Texts) == 0 {
		if r.Model == "" {
			return nil, fmt.Errorf("%s does not say of which model it is", dir)
		}
		return CompileFileWith(r.Model, CompileOptions{Legacy: r.Legacy})
	}
	texts := make([]sourceText, len(r.Texts))
	for i, t := range r.Texts {
		text, err := source.ReadFile(filepath.Join(dir, filepath.FromSlash(t.File)), maxRecord)
		if err != nil {
			return nil, fmt.Errorf("cannot read the model that belongs to the draws: %w", err)
		}
		texts[i] = sourceText{t.Name, text}
	}
	include := func(name string) (*source.File, error) {
		for _, t := range texts[1:] {
			if t.Name == name {
				return source.NewFile(name, t.Text), nil
			}
		}
		return nil, errors.New("it is not in the folder of the run")
	}
	return compileText(context.Background(), texts[0].Name, texts[0].Text, CompileOptions{Legacy: r.Legacy}, include)
}

// ReadData reads the data that are kept in the folder of the run or, where they
// are too large, those of the file, if they are still the same.
func (r *Record) ReadData(dir string) (*data.Set, error) {
	o := data.Options{Memory: compile.DefaultMemory(), Counts: counts(r.Counts)}
	switch {
	case r.DataFile != "":
		s, err := data.ReadJSON(filepath.Join(dir, filepath.FromSlash(r.DataFile)), o)
		if err != nil {
			return nil, err
		}
		return s.Read(data.Reading{Levels: r.Levels, Counts: o.Counts}), nil
	case r.Data == "":
		return data.Empty(), nil
	}
	text, err := data.ReadText(r.Data, o)
	if err != nil {
		return nil, fmt.Errorf("the folder %s does not keep the data of the run, as they are large: %w", dir, err)
	}
	if Digest(text) != r.DataSHA256 {
		return nil, fmt.Errorf("the data in %s are not those of the run in %s, which does not keep them, as they are large", r.Data, dir)
	}
	return data.Parse(r.Data, text, o)
}

// Digest is the SHA-256 of a text in hexadecimal.
func Digest(text string) string {
	h := sha256.New()
	io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil))
}

// Option is the value of an option of the command line, "" if it was not given.
func (r *Record) Option(name string) string {
	if v := r.Options[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// base begins the names of the files of draws.
func (r *Record) base() string {
	if r.Name != "" {
		return r.Name
	}
	return baseName(r.Model)
}

// Remove removes from a folder all that belongs to the run: draws, tables,
// journals, model, data, the report and the record.
func (r *Record) Remove(dir string) error {
	// Not by way of links that lead out of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	remove := func(name string) {
		if err := root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("cannot remove the earlier run: %w", err))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), r.base()+"_")
		digits := strings.TrimLeft(rest, "0123456789")
		if ok && len(digits) < len(rest) && strings.HasPrefix(digits, ".") && !e.IsDir() {
			remove(e.Name())
		}
	}
	for _, suffix := range []string{"", ".new", ".old"} {
		store := filepath.Join(dir, r.base()+".zarr"+suffix)
		if r.Format != Zarr || !zarr.Is(store) {
			continue
		}
		if err := os.RemoveAll(store); err != nil {
			errs = append(errs, fmt.Errorf("cannot remove the earlier run: %w", err))
		}
	}
	tables, _ := fs.Glob(root.FS(), tableFolder+"/*.csv")
	for _, name := range tables {
		remove(name)
	}
	remove(tableFolder)
	for _, t := range r.Texts {
		remove(t.File)
	}
	remove(textFolder)
	if r.DataFile != "" {
		remove(r.DataFile)
	}
	remove(ReportName)
	remove(RecordName)
	return errors.Join(errs...)
}

// The folders within an output folder.
const (
	textFolder  = "model"  // the model and what it includes
	tableFolder = "tuning" // what kernels have learnt: apart from the draws, as readers take all CSV files for chains
)

// baseName is the name of a file without folder and extension.
func baseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// Save writes the fit to a folder, which is made: the draws as CSV files in
// CmdStan's format, exactly, with the model, the data and how the run was made,
// so that [ReadFit] and the command ppl find all that later steps need. A folder
// that holds a run is refused.
func (f *Fit) Save(dir string) error {
	p, err := f.Posterior()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, RecordName)); err == nil {
		return fmt.Errorf("ppl: the folder %s holds a run already", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	r := &Record{
		Program: "ppl " + Version(), Model: p.name, Name: baseName(p.name), Seed: p.options.Seed, StanCompat: p.options.StanCompat,
	}
	if err := r.Keep(dir, p.model, p.values); err != nil {
		return err
	}
	exact := &Fit{Draws: f.Draws, Report: f.Report, posterior: p, config: f.config, sigFigs: 17, started: f.started}
	if f.Files, err = exact.WriteCSV(filepath.Join(dir, r.Name)); err != nil {
		return err
	}
	r.Finish(f, nil)
	return r.Write(dir)
}
