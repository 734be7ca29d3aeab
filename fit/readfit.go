package fit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// ReadOptions limits the resources for reading a run. [ReadFit], [ReadCSV] and [ReadZarr] use the
// zero value.
type ReadOptions struct {
	// Memory is the largest number of bytes for the draws, and also for the data of the run, which
	// are read when needed. 0 means half the memory of the machine or of the process's control
	// group. Reading fails if more is needed.
	Memory int64
}

// room returns the memory that the draws of one run may take.
func (o ReadOptions) room() *draws.Room { return &draws.Room{Limit: compile.MemoryOr(o.Memory)} }

// ReadFit reads the run in an output folder: its draws, the report of its chains, and its model and
// data, see [Fit.Posterior]. If the run was interrupted, it reads the draws in its CSV files. An
// error says that there is no run in the folder, or what is wrong with a file.
func ReadFit(dir string) (*Fit, error) { return ReadOptions{}.Fit(dir) }

// Fit is [ReadFit] within the limits of o.
func (o ReadOptions) Fit(dir string) (*Fit, error) {
	record, err := folder.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(dir); statErr != nil {
			return nil, fmt.Errorf("cannot read a run: there is no folder %s", dir)
		}
		return nil, fmt.Errorf("the folder %s holds no run: there is no %s", dir, folder.RecordFile)
	}
	if err != nil {
		return nil, err
	}
	f, err := o.draws(dir, record)
	if err != nil && !record.Complete { // the draws are still in journals, since they become files at the end
		return nil, &UnfinishedError{Folder: dir, Err: err}
	}
	if err != nil {
		return nil, err
	}
	f.dir, f.record, f.read = dir, record, o
	if err := f.describe(record, filepath.Join(dir, folder.RecordFile)); err != nil {
		return nil, err
	}
	return f, f.readTables(dir, record.Base())
}

// describe takes the configuration and the report of a run from its record, the file path.
func (f *Fit) describe(record *folder.Record, path string) error {
	if record.Config != nil {
		var err error
		if f.config, err = record.Config.Infer(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if f.config.Thin < 1 || f.config.Draws < 0 || f.config.Warmup < 0 || f.config.Chains != f.Draws.Chains() {
			return fmt.Errorf("%s: the configuration is not that of these draws", path)
		}
	}
	if !record.Complete {
		f.Report.Interrupted = true
	}
	if record.Elapsed > 0 {
		f.Report.Elapsed = time.Duration(math.Round(record.Elapsed * float64(time.Second)))
	}
	for i := range f.Report.Chains {
		c := &f.Report.Chains[i]
		for _, r := range record.Reports {
			if r.ID != c.ID {
				continue
			}
			r.Report(c)
		}
		if n := c.ID - f.config.FirstID; n >= 0 && n < len(record.Chains) {
			c.Last = record.Chains[n].Position
			if m := record.Chains[n].Metric; m.Kind != "" {
				c.Metric, c.Recentring = m, record.Chains[n].Recentring
			}
		}
	}
	return nil
}

// readTables reads the tables of a kernel that recorder.finish wrote.
func (f *Fit) readTables(dir, name string) error {
	for i := range f.Report.Chains {
		c := &f.Report.Chains[i]
		prefix := filepath.Join(dir, folder.TableFolder, fmt.Sprintf("%s_%d_", name, c.ID))
		paths, _ := filepath.Glob(escapeGlob(prefix) + "*.csv")
		for _, path := range paths {
			t, err := draws.ReadTable(path, strings.TrimSuffix(strings.TrimPrefix(path, prefix), ".csv"))
			if err != nil {
				return err
			}
			c.Tables = append(c.Tables, t)
			f.Tables = append(f.Tables, path)
		}
	}
	return nil
}

// escapeGlob escapes the characters of a path that have a special meaning in patterns.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// draws reads the draws in an output folder.
func (o ReadOptions) draws(dir string, record *folder.Record) (*Fit, error) {
	r, ok := FormatOf(Format(record.Format))
	if !ok || r.Codec == nil {
		return nil, fmt.Errorf("there are no draws: %q is no format of a run", record.Format)
	}
	return r.draws(o, dir, record.Base())
}

// chainFiles lists name_1.csv, name_2.csv, … in a folder, by number. It skips other files that
// begin with the name, such as tables.
func chainFiles(dir, name string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, file := range chainNames(entries, name) {
		paths = append(paths, filepath.Join(dir, file))
	}
	return paths
}

// chainNames is [chainFiles] for the entries of a folder.
func chainNames(entries []fs.DirEntry, name string) []string {
	var ids []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), name+"_")
		rest, csv := strings.CutSuffix(rest, ".csv")
		if id, err := strconv.Atoi(rest); ok && csv && err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var names []string
	for _, id := range ids {
		names = append(names, fmt.Sprintf("%s_%d.csv", name, id))
	}
	return names
}

// ReadCSV reads the draws of a run from CSV files in CmdStan's format, one per chain. The files do
// not contain the model and data: see [Fit.SetPosterior].
func ReadCSV(paths ...string) (*Fit, error) { return ReadOptions{}.CSV(paths...) }

// CSV is [ReadCSV] within the limits of o.
func (o ReadOptions) CSV(paths ...string) (*Fit, error) {
	if len(paths) == 0 {
		return nil, errors.New("cannot read draws: no files")
	}
	var all []*draws.Contents
	room := o.room()
	for _, path := range paths {
		c, err := draws.ReadFile(path, room)
		if err != nil {
			return nil, err
		}
		if m, ok := draws.Lookup(c.Config, "method"); ok && m.Value == "variational" && c.Len() > 0 {
			c.Draws = c.Draws[len(c.Draws)/c.Len():] // the first row is the mean, not a draw
		}
		all = append(all, c)
	}
	return fitOf(paths, all)
}

// fitOf makes a fit from the contents of files, one per chain.
func fitOf(paths []string, all []*draws.Contents) (*Fit, error) {
	f := &Fit{Files: slices.Compact(paths)}
	var err error
	if f.Draws, err = draws.NewStoreFrom(paths, all); err != nil {
		return nil, err
	}
	f.config = configOf(all[0].Config)
	f.head = all[0].Config
	f.rounded = draws.Digits(f.head)
	if s, ok := find(f.head, fittedParams); ok {
		if f.FromPrior = s.Value == fromPrior; !f.FromPrior && s.Value != "" {
			f.GeneratedFrom = filepath.FromSlash(s.Value)
			if !filepath.IsAbs(f.GeneratedFrom) {
				f.GeneratedFrom = filepath.Join(filepath.Dir(paths[0]), f.GeneratedFrom)
			}
		}
	}
	if f.sigFigs, _ = intSetting(f.head, "sig_figs"); f.sigFigs >= draws.ExactSigFigs || f.sigFigs < 1 {
		f.sigFigs = 0
	}
	if s, ok := draws.Lookup(f.head, "start_datetime"); ok {
		f.started, _ = time.Parse(time.DateTime+" MST", s.Value)
	}
	f.config.Chains = len(all)
	for i, c := range all {
		r := infer.ChainReport{Chain: i, ID: i + 1, Started: true, StepSize: c.Adaptation.StepSize, Metric: c.Adaptation.Metric, Events: c.Events}
		if id, ok := intSetting(c.Config, "id"); ok {
			r.ID = id
		}
		if i == 0 {
			f.config.FirstID = r.ID
		}
		r.Warmup.Elapsed, r.Sampling.Elapsed = c.Elapsed.Warmup, c.Elapsed.Sampling
		f.Report.Elapsed = max(f.Report.Elapsed, c.Elapsed.Warmup+c.Elapsed.Sampling)
		r.Sampling.Transitions = c.Len()
		if steps, ok := f.Draws.Statistic(nil, i, "n_leapfrog__"); ok {
			for _, n := range steps {
				r.Sampling.Gradients += int64(n)
			}
		}
		if divergent, ok := f.Draws.Statistic(nil, i, "divergent__"); ok {
			for _, d := range divergent {
				r.Sampling.Divergences += int(d)
			}
		}
		f.Report.Chains = append(f.Report.Chains, r)
	}
	return f, nil
}

// configOf reads the configuration of a run from the head of a file.
func configOf(settings []draws.Setting) infer.Config {
	c := infer.Config{Thin: 1, FirstID: 1}
	for _, x := range []struct {
		name string
		dst  *int
	}{{"num_samples", &c.Draws}, {"num_warmup", &c.Warmup}, {"thin", &c.Thin}} {
		if v, ok := intSetting(settings, x.name); ok {
			*x.dst = v
		}
	}
	if s, ok := find(settings, "seed"); ok {
		c.Seed, _ = strconv.ParseUint(s.Value, 10, 64)
	}
	if s, ok := find(settings, "save_warmup"); ok {
		c.SaveWarmup = s.Value == "1" || s.Value == "true"
	}
	if s, _ := find(settings, "algorithm"); s.Value == "fixed_param" {
		c.Sampler = sampler.Fixed{}
	}
	switch s, _ := find(settings, "engine"); s.Value {
	case "nuts":
		depth, _ := intSetting(settings, "max_depth")
		c.Sampler = nuts.Sampler{MaxDepth: depth}
	case "auto":
		depth, _ := intSetting(settings, "max_depth")
		c.Sampler = auto.Sampler{MaxDepth: depth}
	case "nuts2011":
		depth, _ := intSetting(settings, "max_depth")
		c.Sampler = nuts.Sampler2011{MaxDepth: depth}
	case "static":
		c.Sampler = hmc.Sampler{}
	}
	return c
}

func intSetting(settings []draws.Setting, name string) (int, bool) {
	s, ok := find(settings, name)
	if !ok {
		return 0, false
	}
	v, err := strconv.Atoi(strings.TrimSpace(s.Value))
	return v, err == nil
}

// find finds a setting by its name, at any depth.
func find(settings []draws.Setting, name string) (draws.Setting, bool) {
	for _, s := range settings {
		if s.Name == name && !s.Group {
			return s, true
		}
		if found, ok := find(s.Children, name); ok {
			return found, true
		}
	}
	return draws.Setting{}, false
}

// Record returns the record of the run in its folder; nil if the fit was not read by [ReadFit].
func (f *Fit) Record() *folder.Record {
	if f == nil {
		return nil
	}
	return f.record
}

// SetPosterior sets the model and data to which the draws belong, for instance after [ReadCSV]. An
// error names a parameter that the draws do not have.
func (f *Fit) SetPosterior(p *model.Posterior) error {
	if err := f.Err(); err != nil {
		return err
	}
	if err := p.Err(); err != nil {
		return err
	}
	names := p.Compiled().ParameterNames()
	have := map[string]bool{}
	for _, n := range f.Draws.Names() {
		have[n] = true
	}
	for _, n := range names {
		if !have[n] {
			return fmt.Errorf("the draws have no %s, which is a parameter of %s", diagnose.DisplayName(n), p.Name())
		}
	}
	f.posterior = p
	return nil
}

// Model returns the model of the run. If the fit was read from a folder, the model is compiled from
// the text there.
func (f *Fit) Model() (*model.Model, error) {
	if f == nil {
		return nil, f.Err()
	}
	switch {
	case f.posterior != nil:
		return f.posterior.Model(), nil
	case f.record == nil:
		return nil, errors.New("the draws do not say of which model they are")
	}
	source := f.source
	if source == nil {
		var err error
		if source, err = f.record.ReadModel(f.dir); err != nil {
			return nil, err
		}
	}
	return model.CompileContext(context.Background(), source.Name, source.Text,
		model.CompileOptions{Legacy: f.record.Legacy, Included: source.Included, IncludePaths: source.IncludePaths})
}

// Data returns the data of the run. If the fit was read from a folder, the data are read from
// there.
func (f *Fit) Data() (*data.Set, error) {
	if f == nil {
		return nil, f.Err()
	}
	switch {
	case f.posterior != nil:
		return f.posterior.Data(), nil
	case f.record == nil:
		return nil, errors.New("the draws do not say of which data they are")
	case f.values != nil:
		return f.values, nil
	}
	// the size of the file was checked when the run was made
	memory := compile.MemoryOr(f.read.Memory)
	return f.record.ReadData(f.dir, data.Options{Limit: memory, Memory: memory})
}

// Binding returns the options with which the model of the fit was bound. Bind models derived from
// it with the same options, because transformed data may depend on the seed. Impossible data are
// allowed, since the fit exists.
func (f *Fit) Binding() model.BindOptions {
	switch {
	case f == nil:
	case f.posterior != nil:
		o := f.posterior.Options()
		return model.BindOptions{Seed: o.Seed, StanCompat: o.StanCompat, Memory: o.Memory, Statements: o.Statements, AllowImpossible: true}
	case f.record != nil:
		return model.BindOptions{Seed: f.record.Seed, StanCompat: f.record.StanCompat, AllowImpossible: true}
	}
	return model.BindOptions{}
}

// Posterior returns the model bound to the data of the run. It is made at the first call, unless
// ctx ends early; see [Fit.Model] and [Fit.Data].
func (f *Fit) Posterior(ctx context.Context) (*model.Posterior, error) {
	if f == nil {
		return nil, f.Err()
	}
	if f.posterior != nil {
		return f.posterior, nil
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	p, err := m.BindContext(ctx, values, f.Binding())
	if err != nil {
		return nil, err
	}
	if err := f.SetPosterior(p); err != nil {
		return nil, err
	}
	return p, nil
}
