package fit

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/model"
)

// WriteCSV writes the draws as CSV files in CmdStan's format, one per chain:
// base "out/fit" makes out/fit_1.csv and so on. It returns their names. See
// [Options.Output] for writing while sampling.
func (f *Fit) WriteCSV(base string) ([]string, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	var names []string
	var all []*draws.File
	defer func() {
		for _, file := range all {
			file.Close()
		}
	}()
	for i := range f.config.Chains {
		if !f.worthFile(i) {
			continue
		}
		path := f.chainPath(base, i)
		file, err := draws.Create(path, f.finalHeader(i, folder.FinalFile(path)))
		if err == nil {
			all, names = append(all, file), append(names, path)
			err = f.writeChain(file.Writer, i)
		}
		if err == nil {
			err = file.End(f.elapsed(i))
		}
		if err != nil {
			return nil, &OutputError{err}
		}
	}
	if err := draws.Commit(all...); err != nil { // all at once, because each folder is then synced only once
		return nil, &OutputError{err}
	}
	return names, nil
}

// chainPath returns the name of the file of a chain.
func (f *Fit) chainPath(base string, i int) string {
	return fmt.Sprintf("%s_%d.csv", base, f.config.FirstID+i)
}

// worthFile reports whether chain i has a file: it has draws, or it is complete without any.
func (f *Fit) worthFile(i int) bool {
	return f.Draws.Len(i)+f.Draws.Warmup().Len(i) > 0 || complete(f.Report.Chains[i])
}

func complete(r infer.ChainReport) bool { return r.Err == nil && !r.Interrupted }

// finalHeader is the head of the file of chain i when the run is over. Its values are those that a
// file written during the run gets at the end.
func (f *Fit) finalHeader(i int, path string) draws.Header {
	settings := f.settings(f.config.FirstID+i, path)
	if a, ok := f.finalAdaptation(i); ok {
		settings = settled(settings, "metric", string(a.Metric.Kind))
	}
	if f.head == nil {
		for _, s := range lengths(f.Report.Chains[i], adapts(f.config.Sampler)) {
			settings = settled(settings, s.Name, s.Value)
		}
	}
	return draws.Header{Config: settings, Columns: f.Draws.Columns(), SigFigs: f.sigFigs}
}

// settled returns settings with a value replaced, unless it is the same.
func settled(settings []draws.Setting, name, value string) []draws.Setting {
	if s, ok := find(settings, name); !ok || s.Value == value {
		return settings
	}
	out := slices.Clone(settings)
	for k := range out {
		out[k] = out[k].With(name, value)
	}
	return out
}

// finalAdaptation returns what warm-up of chain i found, and whether its file says so.
func (f *Fit) finalAdaptation(i int) (draws.Adaptation, bool) {
	r := f.Report.Chains[i]
	if !adapts(f.config.Sampler) || f.Draws.Len(i) == 0 && !complete(r) {
		return draws.Adaptation{}, false
	}
	dim := 0
	if f.posterior != nil {
		dim = f.posterior.Dim()
	}
	return draws.AdaptationOf(r, dim), true
}

// writeChain writes what follows the head of the file of chain i, except the elapsed time.
func (f *Fit) writeChain(w *draws.Writer, i int) error {
	if err := writeRows(w, f.Draws.Warmup(), i); err != nil {
		return err
	}
	if a, ok := f.finalAdaptation(i); ok {
		if err := w.Adaptation(a); err != nil {
			return err
		}
	}
	if err := writeRows(w, f.Draws, i); err != nil {
		return err
	}
	for _, e := range f.Report.Chains[i].Events {
		if err := w.Event(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fit) elapsed(i int) draws.Elapsed {
	r := f.Report.Chains[i]
	return draws.Elapsed{Warmup: r.Warmup.Elapsed, Sampling: r.Sampling.Elapsed}
}

func writeRows(w *draws.Writer, store *draws.Store, chain int) error {
	for i := range store.Len(chain) {
		statistics, values := store.Draw(chain, i)
		if err := w.Row(statistics, values); err != nil {
			return err
		}
	}
	return nil
}

// output is the set of CSV files that are written during a run.
type output struct{ files []*chainFile }

// chainFile is the file of one chain.
type chainFile struct {
	*draws.File
	path    string
	rows    int
	adapted bool // the adaptation block has been written
	fixed   bool // the sampler adapts nothing, so there is no such block
	dim     int  // number of unconstrained parameters; 0: unknown
}

// createOutput creates the files, with temporary names until they are complete. After an error it
// leaves no files.
func (f *Fit) createOutput(base string) (*output, error) {
	out := &output{}
	dim := 0
	if f.posterior != nil {
		dim = f.posterior.Dim()
	}
	for i := range f.config.Chains {
		path := f.chainPath(base, i)
		file, err := draws.Create(path, draws.Header{
			Config:  f.settings(f.config.FirstID+i, folder.FinalFile(path)),
			Columns: f.Draws.Columns(),
			SigFigs: f.sigFigs,
		})
		if err != nil {
			out.close()
			return nil, &OutputError{err}
		}
		out.files = append(out.files, &chainFile{File: file, path: path, fixed: !adapts(f.config.Sampler), dim: dim})
	}
	return out, nil
}

// drawOutput writes the draws of a run while they are made.
type drawOutput interface {
	// draw writes a draw. Calls do not overlap, and those for a chain are in order.
	draw(session *infer.Session, d infer.Draw) error

	// flush writes buffered draws to the system, if possible.
	flush() error

	// replayed is called when the earlier draws of a resumed run have been written.
	replayed() error

	// finish completes the files of chains that have draws and returns their names.
	finish(report infer.Report) ([]string, error)

	// keep ends the files as they are, after a write error.
	keep() ([]string, error)

	// close removes files that are not finished or kept.
	close()

	// chainBase is the common prefix of the names of a chain's files other than its draws. Chains
	// count from 0.
	chainBase(chain int) string
}

func (o *output) replayed() error { return nil }

func (o *output) flush() error {
	for _, file := range o.files {
		if err := file.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) chainBase(chain int) string { return strings.TrimSuffix(o.files[chain].path, ".csv") }

// draw writes one draw.
func (o *output) draw(session *infer.Session, d infer.Draw) error {
	file := o.files[d.Chain]
	if !d.Warmup && !file.adapted {
		if err := file.adaptation(session.Report().Chains[d.Chain]); err != nil {
			return err
		}
	}
	file.rows++
	return file.Draw(d)
}

// adaptation writes the step size and metric that warm-up found.
func (c *chainFile) adaptation(r infer.ChainReport) error {
	c.adapted = true
	if c.fixed { // as CmdStan's fixed_param: nothing was adapted
		return nil
	}
	a := draws.AdaptationOf(r, c.dim)
	// Readers compare the kind of metric with the head, which was written before the kind was
	// known.
	if err := c.Restate("metric", string(a.Metric.Kind)); err != nil {
		return err
	}
	return c.Adaptation(a)
}

// finish completes the files of chains that have draws and returns their names.
func (o *output) finish(report infer.Report) ([]string, error) {
	var names []string
	var errs []error
	var whole []*draws.File
	for i, file := range o.files {
		r := report.Chains[i]
		if file.rows == 0 && !complete(r) {
			continue // close removes it
		}
		if !file.adapted && complete(r) {
			errs = append(errs, file.adaptation(r))
		}
		for _, s := range lengths(r, !file.fixed) {
			errs = append(errs, file.Restate(s.Name, s.Value))
		}
		for _, e := range r.Events {
			errs = append(errs, file.Event(e))
		}
		if err := file.End(draws.Elapsed{Warmup: r.Warmup.Elapsed, Sampling: r.Sampling.Elapsed}); err != nil {
			errs = append(errs, err)
			continue
		}
		whole = append(whole, file.File)
		names = append(names, file.path)
	}
	if errors.Join(errs...) == nil { // all at once, because each folder is then synced only once
		errs = append(errs, draws.Commit(whole...))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &OutputError{err}
	}
	return names, nil
}

// lengths returns the settings that say how many transitions a chain made, which are fewer than
// planned if the run ended early. Readers compute the number of lines from them.
func lengths(r infer.ChainReport, adapts bool) []draws.Setting {
	if r.Sampling.Transitions == 0 && r.Warmup.Transitions == 0 {
		return nil // only the draws of the chain are known
	}
	out := []draws.Setting{{Name: "num_samples", Value: strconv.Itoa(r.Sampling.Transitions)}}
	if adapts { // otherwise CmdStan states the default, and CmdStanPy refuses a file without warm-up
		out = append(out, draws.Setting{Name: "num_warmup", Value: strconv.Itoa(r.Warmup.Transitions)})
	}
	return out
}

// keep ends the files with their current contents, after an error.
func (o *output) keep() ([]string, error) {
	var names []string
	var errs []error
	for _, file := range o.files {
		kept, err := file.Keep()
		if kept {
			names = append(names, file.path)
		}
		errs = append(errs, err)
	}
	return names, errors.Join(errs...)
}

// close removes the files that are not finished.
func (o *output) close() {
	for _, file := range o.files {
		file.Close()
	}
}

// statistics returns the columns that a sampler fills, or all columns if it is not in the table of
// samplers.
func statistics(s infer.Sampler) []sampler.Column {
	if row, ok := sampler.RowOf(s); ok {
		return row.AllColumns()
	}
	var all []sampler.Column
	for _, row := range sampler.Table() {
		for _, c := range row.AllColumns() {
			if c.Name != sampler.Restarts && !slices.ContainsFunc(all, func(d sampler.Column) bool { return d.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	return all
}

// adapts reports whether the sampler adapts anything in warm-up.
func adapts(s infer.Sampler) bool {
	row, ok := sampler.RowOf(s)
	return !ok || row.Adapts
}

// settings describes the configuration by CmdStan's names, because programs that read its files
// look for these. Each file describes its own chain, so there is one list per file.
func (f *Fit) settings(id int, path string) []draws.Setting {
	if f.packed {
		path = filepath.Base(path)
	}
	if f.head != nil { // the run was read from files, whose settings are kept
		var again []draws.Setting
		for _, s := range f.head {
			if s.Name == "id" {
				s.Value, s.Default = strconv.Itoa(id), id == 1
			}
			if s.Name == "output" {
				s = s.With("file", path).With("sig_figs", strconv.Itoa(f.digits()))
			}
			again = append(again, s)
		}
		return again
	}
	cfg := f.config
	m, dataFile := "unknown", ""
	if f.posterior != nil { // the source of draws that were read may be unknown
		m, dataFile = f.posterior.Name(), f.posterior.Data().File()
	}
	if f.packed && dataFile != "" {
		dataFile = filepath.Base(dataFile)
	}
	init := "user"
	if u, ok := cfg.Init.(infer.Uniform); ok {
		init = number(u.Radius)
	}
	return draws.Configuration{
		Model: m, DataFile: dataFile, Program: "ppl " + model.Version(),
		Method: draws.Setting{Name: "method", Value: "sample", Default: true, Children: []draws.Setting{
			{Name: "sample", Group: true, Children: append([]draws.Setting{
				restated(setting("num_samples", strconv.Itoa(cfg.Draws), "1000")),
				restated(setting("num_warmup", strconv.Itoa(cfg.Warmup), "1000")),
				setting("save_warmup", strconv.Itoa(count(cfg.SaveWarmup)), "0"), // all readers accept a number
				setting("thin", strconv.Itoa(cfg.Thin), "1"),
			}, append(algorithm(cfg.Sampler), setting("num_chains", "1", "1"))...)},
		}},
		ID: id, Init: init, Seed: cfg.Seed, SigFigs: f.sigFigs, Threads: cfg.Parallel, Refresh: cfg.Refresh, Started: f.started,
	}.Settings(path)
}

// digits is the number of significant digits in files.
func (f *Fit) digits() int {
	if f.sigFigs <= 0 {
		return draws.ExactSigFigs
	}
	return f.sigFigs
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// restated makes room in the head for a value that is known only later.
func restated(s draws.Setting) draws.Setting {
	s.Room = 12
	return s
}

// depth returns the setting for the maximum tree depth. CmdStanPy and CmdStanR reject a file
// without it, or without a column treedepth__, which is 0 if the sampler builds no trees.
func depth(limit int) draws.Setting {
	return setting("max_depth", strconv.Itoa(cmp.Or(limit, nuts.DefaultMaxDepth)), "10")
}

// setting makes a setting, and marks it if the value is CmdStan's default.
func setting(name, value, standard string) draws.Setting {
	return draws.Setting{Name: name, Value: value, Default: value == standard}
}

// algorithm returns the settings in a file's header that describe the sampler.
func algorithm(s infer.Sampler) []draws.Setting {
	group := func(name string, children ...draws.Setting) draws.Setting {
		return draws.Setting{Name: name, Group: true, Children: children}
	}
	engine := func(name string, a warmup.Options, jitter float64, options ...draws.Setting) []draws.Setting {
		return []draws.Setting{adapt(a), {Name: "algorithm", Value: "hmc", Default: true, Children: []draws.Setting{
			group("hmc",
				draws.Setting{Name: "engine", Value: name, Default: name == "nuts", Children: []draws.Setting{group(name, options...)}},
				restated(setting("metric", string(a.MetricKind()), string(infer.Diagonal))),
				setting("metric_file", "", ""),
				setting("stepsize", number(a.Start()), "1"),
				setting("stepsize_jitter", number(jitter), "0"),
			)}}}
	}
	switch s := s.(type) {
	case nuts.Sampler:
		options := []draws.Setting{depth(s.MaxDepth)}
		if s.Refine > 0 { // without it, the head is the same as CmdStan's
			options = append(options, setting("refine", number(s.Refine), "0"))
		}
		return engine("nuts", s.Adapt, s.Jitter, options...)
	case hmc.Sampler:
		return engine("static", s.Adapt, s.Kernel.Jitter,
			setting("int_time", number(cmp.Or(s.Kernel.IntTime, hmc.DefaultIntTime)), "6.2831853"),
			setting("steps", strconv.Itoa(s.Kernel.Steps), "0"),
			depth(0))
	case auto.Sampler:
		refine := cmp.Or(s.Refine, float64(auto.DefaultRefine))
		if s.NoRefine {
			refine = 0
		}
		settings := engine("auto", warmup.Options{Metric: cmp.Or(s.Metric, infer.Diagonal)}, 0,
			depth(s.MaxDepth),
			setting("refine", number(refine), number(auto.DefaultRefine)))
		// ppl's sampler does not adapt as CmdStan's engine does, so the engine's adaptation
		// settings are left out.
		settings[0].Children = append(settings[0].Children[:1:1], setting("delta", number(cmp.Or(s.Delta, auto.DefaultDelta)), "0.8"))
		return settings
	case nuts.Sampler2011:
		return engine("nuts2011", warmup.Options{StepSize: s.StepSize, FixedStepSize: s.FixedStepSize, FixedMetric: true, Metric: infer.Unit,
			Averaging: warmup.Averaging{Delta: cmp.Or(s.Averaging.Delta, nuts.DefaultDelta2011), Gamma: s.Averaging.Gamma, Kappa: s.Averaging.Kappa, T0: s.Averaging.T0}}, 0,
			depth(s.MaxDepth))
	case ahmc.Sampler:
		settings := engine("ahmc", warmup.Options{Metric: cmp.Or(s.Metric, infer.Unit), FixedMetric: s.FixedMetric}, 0,
			side("min_stepsize", s.Box.MinStepSize),
			side("max_stepsize", s.Box.MaxStepSize),
			side("min_steps", float64(s.Box.MinSteps)),
			side("max_steps", float64(s.Box.MaxSteps)),
			setting("batches", strconv.Itoa(cmp.Or(s.Batches, ahmc.DefaultBatches)), strconv.Itoa(ahmc.DefaultBatches)),
			setting("reward", ahmc.RewardName(s.Reward), ahmc.RewardName(nil)),
			setting("cost", s.Cost.String(), ahmc.CostSqrtSteps.String()),
			setting("freeze", strconv.FormatBool(s.Freeze), "false"),
			setting("fixed_length", strconv.FormatBool(s.FixedLength), "false"),
			setting("radius", number(s.Radius), "0"),
			depth(0))
		settings[0].Children = settings[0].Children[:1] // without engaged: this sampler adapts in its own way
		return settings
	case sampler.Geometric:
		settings := algorithm(s.Sampler)
		kind := string(s.Riemannian.Kind)
		if s.Riemannian.Frozen {
			kind = string(infer.Dense) // the closest kind that readers of the file know
		}
		for i := range settings {
			settings[i] = settings[i].With("metric", kind)
		}
		return settings
	case sampler.Fixed:
		// CmdStanPy looks for a metric before it finds that nothing was adapted.
		return []draws.Setting{{Name: "algorithm", Value: "fixed_param", Children: []draws.Setting{
			group("fixed_param", setting("metric", string(infer.Unit), string(infer.Diagonal)))}}}
	}
	name := fmt.Sprintf("%T", s)
	if row, ok := sampler.RowOf(s); ok { // readers expect an engine, a metric and a maximum depth
		return engine(row.Name, warmup.Options{Metric: infer.Unit}, 0, depth(0))
	}
	return []draws.Setting{{Name: "algorithm", Value: name}}
}

// side returns the setting for one side of the box from which ahmc chooses its settings. If the
// side is not given, warm-up finds it after the header is written; the adaptation block then has
// it.
func side(name string, v float64) draws.Setting {
	if v == 0 {
		return draws.Setting{Name: name, Value: "found in warm-up", Default: true}
	}
	return draws.Setting{Name: name, Value: number(v)}
}

// adapt returns the settings in a file's header that describe warm-up.
func adapt(o warmup.Options) draws.Setting {
	a := o.Averaging
	buffer := func(v, standard int) string { return strconv.Itoa(max(0, cmp.Or(v, standard))) }
	return draws.Setting{Name: "adapt", Group: true, Children: []draws.Setting{
		setting("engaged", strconv.FormatBool(!o.FixedStepSize || !o.FixedMetric), "true"),
		setting("gamma", number(cmp.Or(a.Gamma, 0.05)), "0.05"),
		setting("delta", number(cmp.Or(a.Delta, 0.8)), "0.8"),
		setting("kappa", number(cmp.Or(a.Kappa, 0.75)), "0.75"),
		setting("t0", number(cmp.Or(a.T0, 10)), "10"),
		setting("init_buffer", buffer(o.StartBuffer, 75), "75"),
		setting("term_buffer", buffer(o.EndBuffer, 50), "50"),
		setting("window", buffer(o.BaseWindow, 25), "25"),
		setting("save_metric", "false", "false"),
	}}
}

// number formats a setting as CmdStan does.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
