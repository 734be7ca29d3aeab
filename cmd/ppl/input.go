package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

// input has the options about model and data that the commands share.
type input struct {
	data       string
	others     []data.Text // further tables, whose columns are added to those of data
	compile    model.CompileOptions
	noPropto   bool
	noJacobian bool
	seed       uint64
	quiet      bool
	verbose    bool          // all findings and notes, in full
	print      func(string)  // receives the model's print statements
	without    []string      // passes of the compiler
	impossible bool          // without sampling: accept data that no parameters can explain
	stanCompat string        // version of Stan whose transforms are used
	memory     byteSize      // limit for binding and for an evaluation; 0: the default
	statements int64         // limit of statements that binding runs; 0: the default
	maxData    byteSize      // limit for a file of data; 0: the default
	counts     []string      // numbers to count in a table: N or J=column
	na         []string      // how to treat missing values in a table: WHAT or column=WHAT
	missing    []string      // texts in a table that mean that there is no value: WORD or column=WORD
	how        []string      // how to read columns of a table: column=HOW
	maxPrint   byteSize      // limit for the output of print statements; 0: the default
	timeLimit  time.Duration // limit for the whole command; 0: none
	color      colorMode
	noConfig   bool // ignore configuration files
	showConfig bool // print the values of flags and end

	stdinAs   string                 // the purpose for which standard input was read; "": not read yet
	source    *source.File           // the model, once read
	text      string                 // the data as text, between reading and parsing
	textErr   error                  // why the data could not be read
	digest    string                 // digest of the text
	parsed    *data.Set              // the data parsed from the text
	uses      func(name string) bool // whether the compiled model uses data of that name; nil: any
	sizes     map[string]string      // the first sizes of the model's data, as they are written
	newLevels bool                   // columns may have levels that are not in as
	as        *data.Set              // data whose levels the data must have, such as those of a fit; nil: none

	// The run, and its folder, that has the model and the data; nil: they are read from files.
	record    *folder.Record
	recordDir string
}

// flags declares the options.
func (in *input) flags(cmd *cobra.Command) { bindsModel.add(cmd, in) }

// dataFlag is --data. Further files are tables whose columns are added to the first.
type dataFlag struct{ in *input }

func (f *dataFlag) String() string {
	if f.in == nil {
		return ""
	}
	return f.in.data
}

func (f *dataFlag) Type() string { return "string" }

// files lists the files, in the order of the flags.
func (f *dataFlag) files() []string {
	all := []string{f.in.data}
	for _, t := range f.in.others {
		all = append(all, t.File)
	}
	return all
}

func (f *dataFlag) Set(text string) error {
	if f.in.data == "" {
		f.in.data = text
		return nil
	}
	f.in.others = append(f.in.others, data.Text{File: text})
	return nil
}

// nonmemFlag is --nonmem: --data for a data set of NONMEM.
type nonmemFlag struct{ dataFlag }

func (f *nonmemFlag) Set(text string) error {
	f.in.how = append(f.in.how, "nonmem")
	return f.dataFlag.Set(text)
}

// memoryVariable is the environment variable with a memory limit. --memory overrides it.
const memoryVariable = "PPL_MEMORY"

// limitMemory takes the limit from the environment if the option does not set it, and makes the
// garbage collector keep to it.
func limitMemory(limit *byteSize) error {
	if text := os.Getenv(memoryVariable); text != "" && *limit == 0 {
		if err := limit.Set(text); err != nil {
			return usagef("%s is %q: %v", memoryVariable, text, err)
		}
	}
	memory := compile.MemoryOr(int64(*limit))
	collectWithin(memory + memory/4)
	return nil
}

// read reads the model and the data, each only once. So the bytes that are hashed are the bytes
// that are used, and both may come through a pipe. Errors in the data are reported after the model
// has been compiled.
func (in *input) read(ctx context.Context, model string) error {
	if in.source != nil {
		return nil
	}
	if err := in.limits(); err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(model), ".json") {
		return usagef("%s is a file of data; give the model first, and the data after --data", model)
	}
	if text, ok, err := heldIn(ctx).text(model); ok {
		if err != nil {
			return err
		}
		in.source = source.NewFile(model, text)
		in.readData(ctx)
		return nil
	}
	if model == "-" {
		if in.stdinAs != "" {
			return usagef("the model cannot be standard input: it is %s already", in.stdinAs)
		}
		in.stdinAs = "the model"
	}
	f, err := files.Until(ctx, func() (*source.File, error) { return readModel(os.Stdin, model, in.compile.MaxSource) })
	if err != nil {
		return err
	}
	in.source = f
	if in.readData(ctx); ctx.Err() != nil {
		return in.textErr
	}
	return nil
}

// readData reads the text of the data, if a file is given.
func (in *input) readData(ctx context.Context) {
	if in.data != "" {
		in.text, in.textErr = in.readText(ctx, in.data, "--data")
		all := in.text
		for i := range in.others {
			if t := &in.others[i]; in.textErr == nil {
				t.Text, in.textErr = in.readText(ctx, t.File, "--data")
				all += t.Text
			}
		}
		in.digest = files.Digest(all)
	}
}

// parseData parses the text that readData has read. It then drops the text, which may take more
// memory than its values.
func (in *input) parseData(stderr io.Writer) (*data.Set, error) {
	if in.parsed == nil && in.textErr == nil {
		in.parsed, in.textErr = in.parse(fileName(in.data), in.text)
		in.text = ""
		if in.textErr == nil && !in.quiet {
			noRows(stderr, in.parsed)
			droppedRows(stderr, in.parsed)
		}
	}
	return in.parsed, in.textErr
}

// reading returns the options for reading data, including the limits.
func (in *input) reading() data.Options {
	return data.Options{Limit: int64(in.maxData), Memory: compile.MemoryOr(int64(in.memory))}
}

// readText reads a file of data, or standard input for "-".
func (in *input) readText(ctx context.Context, path, option string) (string, error) {
	if text, ok, err := heldIn(ctx).text(path); ok {
		return text, err
	}
	if path != "-" {
		text, err := files.Until(ctx, func() (string, error) { return data.ReadText(path, in.reading()) })
		e, ok := errors.AsType[*data.Error](err)
		if _, missing := os.Stat(path); ok && missing != nil {
			if near := nearFile(missing); near != "" {
				e.Fix = "did you mean " + near + "?"
			}
		}
		if ok && option != "--data" {
			e.Message = strings.Replace(e.Message, "cannot read the data", "cannot read the file of "+option, 1)
		}
		return text, err
	}
	if in.stdinAs != "" {
		return "", usagef("%s cannot be standard input: it is %s already", option, in.stdinAs)
	}
	in.stdinAs = option
	return files.Until(ctx, func() (string, error) { return data.ReadTextFrom(os.Stdin, stdinName, in.reading()) })
}

// stdinName is the name of standard input in messages and in the names of files.
const stdinName = "stdin"

// fileName returns the name of a file for messages.
func fileName(path string) string {
	if path == "-" {
		return stdinName
	}
	return path
}

// readModel reads a file, or standard input for "-".
func readModel(stdin io.Reader, name string, limit int64) (*source.File, error) {
	var text string
	var err error
	if name == "-" {
		name = stdinName
		text, err = source.ReadAll(stdin, name, limit)
	} else {
		text, err = source.ReadFile(name, limit)
	}
	if long := (*source.TooLongError)(nil); errors.As(err, &long) {
		return nil, fmt.Errorf("%s: cannot read the model: it is longer than %s; allow for more by --max-source", name, source.Bytes(long.Limit))
	}
	if err != nil {
		return nil, plainPathError(err)
	}
	return source.NewFile(name, text), nil
}

// modelFolder returns the folder in which to look for included files: that of the model, or the
// working folder if the model comes through a pipe.
func modelFolder(name string) string {
	if info, err := os.Stat(name); name == "-" || err == nil && !info.Mode().IsRegular() {
		return "."
	}
	return filepath.Dir(name)
}

// loaded is a model bound to data, with the times that loading took.
type loaded struct {
	model     *model.Model
	posterior *model.Posterior
	compile   time.Duration
	values    *data.Set
	read      time.Duration // time to read the data
	bind      time.Duration
}

// levels returns the levels that the indices of quantities represent.
func (l *loaded) levels() map[string][]arrays.Factor { return fit.PosteriorFactors(l.posterior) }

// load compiles the model, reads the data and binds them, unless ctx ends first. It shows warnings
// on stderr.
func (in *input) load(ctx context.Context, model string, stderr io.Writer) (*loaded, error) {
	if err := in.limits(); err != nil {
		return nil, err
	}
	if in.record == nil {
		if err := in.read(ctx, model); err != nil {
			return nil, err
		}
	}
	l := &loaded{}
	err := timed(&l.compile, func() (err error) {
		l.model, err = in.compiled(ctx, model, stderr)
		return err
	})
	if err != nil {
		return nil, err
	}
	values := data.Empty()
	err = timed(&l.read, func() (err error) {
		if in.record != nil && in.data == "" { // given data have been compared with those of the record
			if values, err = in.record.ReadData(in.recordDir, in.reading()); errors.As(err, new(*folder.ChangedError)) {
				err = fmt.Errorf("%w\nIf you have them still, give them as well: ppl run --resume %s --data FILE", err, in.recordDir)
			}
			return err
		}
		if in.data == "" {
			return nil
		}
		values, err = in.parseData(stderr)
		return err
	})
	if err != nil {
		return nil, err
	}
	var binary []compile.Binary
	if values, binary, err = l.model.Program().Coded(values); err != nil {
		return nil, err
	}
	for _, b := range binary {
		if !in.quiet {
			printMessage(stderr, "%s: 0 is %s, 1 is %s", b.Name, b.Zero, b.One)
		}
	}
	l.values = values
	options := in.bindOptions()
	err = timed(&l.bind, func() (err error) {
		if l.posterior, err = l.model.BindContext(ctx, values, options); err == nil {
			l.posterior.SetWorkers(runtime.GOMAXPROCS(0)) // chains use clones of it
			values.Forget()
		}
		return err
	})
	if err == nil && !in.quiet {
		missingValues(stderr, l.posterior)
	}
	var refused *compile.Error
	if in.data == "" && errors.As(err, &refused) && refused.List[0].Code == diag.DataMissing {
		return nil, &compile.Error{List: diag.List{{
			Code:    diag.DataMissing,
			Span:    refused.List[0].Span,
			Summary: refused.List[0].Summary,
			Fix:     "give a file of data by --data FILE",
		}}}
	}
	return l, err
}

// emptyModel warns of a file without text: it is a valid model without parameters, but surely a
// mistake.
func emptyModel(stderr io.Writer, name string) {
	printMessage(stderr, "warning: %s is empty: a model without parameters; is it the file that you mean?", name)
}

// noRows warns of a table that has only a header.
func noRows(stderr io.Writer, s *data.Set) {
	if !s.Table() {
		return
	}
	for _, name := range s.Names() {
		if v, ok := s.Get(name); ok && len(v.Shape) == 1 && v.Shape[0] == 0 {
			printMessage(stderr, "warning: %s has names of columns and no rows: there are no observations", s.File())
			return
		}
	}
}

// compiled compiles the model that has been read, or the one in the folder of a run. It shows
// warnings on stderr.
func (in *input) compiled(ctx context.Context, text string, stderr io.Writer) (m *model.Model, err error) {
	if in.record != nil {
		var s *folder.Source
		if s, err = in.record.ReadModel(in.recordDir); err == nil {
			m, err = model.CompileContext(ctx, s.Name, s.Text,
				model.CompileOptions{Legacy: in.record.Legacy, Included: s.Included, IncludePaths: s.IncludePaths})
		}
	} else {
		o := in.compile
		if heldIn(ctx) == nil {
			o.IncludePaths = append([]string{modelFolder(text)}, o.IncludePaths...)
		}
		m, err = model.CompileContext(ctx, in.source.Name, in.source.Text, o)
	}
	if err != nil {
		return nil, err
	}
	if w := m.Warnings(); len(w) > 0 && !in.quiet {
		diag.Render(stderr, wordedList(w), diagOptions(stderr))
	}
	if strings.TrimSpace(m.Text()) == "" && !in.quiet {
		emptyModel(stderr, m.Name())
	}
	in.suits(m)
	return m, nil
}

// simulator compiles the program of --simulator. It returns nil without that flag.
func (in *input) simulator(ctx context.Context, path string, stderr io.Writer) (*model.Model, error) {
	if path == "" {
		return nil, nil
	}
	own := input{compile: in.compile, quiet: in.quiet}
	if err := own.read(ctx, path); err != nil {
		return nil, err
	}
	return own.compiled(ctx, path, stderr)
}

// values reads values of parameters from a file or, if the text itself is JSON, from the text.
func (in *input) values(ctx context.Context, text string) (*data.Set, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return data.ParseJSON("--params", []byte(text))
	}
	content, err := in.readText(ctx, text, "--params")
	if err != nil {
		return nil, err
	}
	return data.Parse(fileName(text), content, in.reading())
}

// parse reads the text of a file of data.
func (in *input) parse(name, text string) (set *data.Set, err error) {
	o := in.reading()
	o.As, o.NewLevels = in.as, in.newLevels
	for _, c := range in.counts {
		name, of, _ := strings.Cut(c, "=")
		if strings.TrimSpace(name) == "" {
			return nil, usagef("--count %s: write --count N, or --count J=column", c)
		}
		o.Counts = append(o.Counts, data.Count{Name: strings.TrimSpace(name), Of: strings.TrimSpace(of)})
	}
	o.ByKey = in.byKey
	first := data.Text{File: name, Text: text}
	set, err = in.declarations().Parse(o, in.uses, func(o data.Options) (*data.Set, error) {
		return data.ParseJoined(first, in.others, o)
	})
	return set, wrongDeclaration(err)
}

// declarations returns how --na, --missing and --read declare columns.
func (in *input) declarations() data.Declarations {
	return data.Declarations{NA: in.na, Missing: in.missing, Read: in.how}
}

// wrongDeclaration words an error in --na, --missing or --read.
func wrongDeclaration(err error) error {
	if e, ok := errors.AsType[*data.DeclarationError](err); ok {
		return usagef("--%s", e.Message)
	}
	return err
}

// limits checks the limits for the model. Environment variables may set them too.
func (in *input) limits() error {
	if in.statements < 0 {
		return usagef("--statements must be positive, but is %d", in.statements)
	}
	return limitMemory(&in.memory)
}

// collectWithin sets a memory limit for the garbage collector: above that many bytes, it runs
// before memory has doubled. Of several limits, the lowest applies.
func collectWithin(bytes int64) {
	if bytes < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(bytes)
	}
}

// bindOptions returns the options for binding the model, including the limits.
func (in *input) bindOptions() model.BindOptions {
	return model.BindOptions{
		Memory:     int64(in.memory),
		Statements: in.statements,
		Seed:       in.seed,
		NoPropto:   in.noPropto,
		NoJacobian: in.noJacobian,
		Print:      in.print,
		MaxPrint:   int64(in.maxPrint),
		Without:    in.without,
		StanCompat: in.stanCompat,

		AllowImpossible: in.impossible,
	}
}

// plainPathError rewords an error about a file without the name of the system call.
func plainPathError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		if errors.Is(err, syscall.EISDIR) {
			return fmt.Errorf("%s: cannot read the model: this is a folder; give a file in it", pe.Path)
		}
		return meant(fmt.Errorf("%s: cannot read the model: %w", pe.Path, pe.Err), nearFile(err))
	}
	return err
}

func timed(d *time.Duration, f func() error) error {
	start := time.Now()
	err := f()
	*d += time.Since(start)
	return err
}

// pointed has the options of commands that evaluate something at given points.
type pointed struct {
	input
	points string
	random int // number of random points to use if no file is given; 0: a file is required

	// With anywhere, the point is the origin if the log density is not finite at random points.
	// nowhere is then the reason.
	anywhere bool
	nowhere  error
}

// flags declares the options.
func (o *pointed) flags(cmd *cobra.Command) {
	o.input.flags(cmd)
	f := declare(cmd)
	f.String(&o.points, "points", "")
	f.Uint64(&o.seed, "seed", 0)
	f.List(&o.without, "without", nil)
}

// load loads a model and reads the points. Output of print statements goes to stderr. When ctx
// ends, evaluations of the posterior fail with an error that wraps the cause.
func (o *pointed) load(ctx context.Context, model string, stderr io.Writer) (l *loaded, xs [][]float64, err error) {
	if o.points == "" && o.random == 0 {
		return nil, nil, usagef("--points is missing: a file with the points, such as {\"points\": [[0.1, -0.5]]}, or the folder of a run")
	}
	o.print = func(s string) { printMessage(stderr, "%s", s) }
	stop := asked(ctx)
	if l, err = o.input.load(ctx, model, stderr); err == nil {
		if o.points == "" {
			if xs, err = randomPoints(ctx, l.posterior, o.seed, o.random, stop); err != nil && o.anywhere && stop() == nil {
				o.nowhere, xs, err = err, [][]float64{make([]float64, l.posterior.Dim())}, nil
			}
		} else if xs, err = o.readPoints(ctx, o.points, l.posterior); err == nil && len(xs) == 0 {
			err = fmt.Errorf("%s has no points", o.points)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	l.posterior.SetStop(stop)
	return l, xs, nil
}

// readPoints reads {"points": [[…], …]}, unconstrained points, or the draws of a run in a folder.
func (in *input) readPoints(ctx context.Context, path string, p *model.Posterior) ([][]float64, error) {
	if isFolder(path) {
		f, err := openFit(ctx, []string{path}, &in.memory)
		if err != nil {
			return nil, err
		}
		return fit.Unconstrained(p, f)
	}
	dim := p.Dim()
	text, err := in.readText(ctx, path, "--points")
	if err != nil {
		return nil, err
	}
	set, err := data.ParseText(fileName(path), text, in.reading())
	if err != nil {
		return nil, err
	}
	if e := set.Fault("points"); e != nil {
		return nil, e
	}
	v, ok := set.Get("points")
	if !ok {
		return nil, &data.Error{File: path, Message: `there is no "points"`, Fix: `write the points as {"points": [[0.1, -0.5], [1, 2]]}, one row per point`}
	}
	if v.Size() == 0 && dim > 0 && len(v.Shape) == 1 {
		return nil, set.Errorf("points", -1, "there are no points")
	}
	if len(v.Shape) != 2 && !(dim == 0 && v.Size() == 0) {
		return nil, set.Errorf("points", -1, "points must be an array of points, each an array of %d numbers", dim)
	}
	if len(v.Shape) == 2 && v.Shape[1] != dim {
		return nil, set.Errorf("points", -1, "each point has %d numbers, but the model has %d unconstrained parameters", v.Shape[1], dim)
	}
	for i, r := range v.Reals {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, set.Errorf("points", i, "%s is %v, but points must be finite", set.Path("points", i), r)
		}
	}
	points := make([][]float64, v.Shape[0])
	for i := range points {
		points[i] = v.Reals[i*dim : (i+1)*dim]
	}
	return points, nil
}
