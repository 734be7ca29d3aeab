package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/buildinfo"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Model is a compiled model that knows no data yet. It is immutable and may be
// bound any number of times, concurrently too.
type Model struct {
	name     string
	program  *compile.Program
	warnings diag.List
	options  CompileOptions
	texts    []sourceText // its own, then those that it includes
}

// sourceText is a text of a model, under the name by which it is asked for.
type sourceText struct{ Name, Text string }

// Compile compiles a model. Messages show the name, usually that of a file. The error has
// everything that is wrong with the text, see [Diagnostics].
func Compile(name, text string) (*Model, error) {
	return CompileContext(context.Background(), name, text, CompileOptions{})
}

// CompileOptions are options of [CompileContext] and [CompileFileContext]. The zero value is the
// default.
type CompileOptions struct {
	// IncludePaths are the folders in which the files of #include lines are
	// looked for, in this order. Only regular files in and below them can be
	// included, also by way of ".." and symbolic links.
	IncludePaths []string

	// Included are texts of #include lines by the names that these have, which come
	// before those of files.
	Included map[string]string

	// Legacy reads the syntax of older versions of Stan, such as real x[N], as
	// what replaced it, with a warning for each place.
	Legacy bool

	// MaxSource bounds the bytes of the text together with the files that it
	// includes; 0: a megabyte.
	MaxSource int64
}

// CompileContext is [Compile] with options, that returns when ctx ends; the error then
// wraps its cause.
func CompileContext(ctx context.Context, name, text string, o CompileOptions) (*Model, error) {
	return compileText(ctx, name, text, o, o.include(nil))
}

// include finds the texts of #include lines: in Included, then by first if it is not nil, then in
// files. It is nil if no text can be included.
func (o *CompileOptions) include(first func(string) (*source.File, error)) func(string) (*source.File, error) {
	var finders []func(string) (*source.File, error)
	if o.Included != nil {
		finders = append(finders, func(name string) (*source.File, error) {
			if text, ok := o.Included[name]; ok {
				return source.NewFile(name, text), nil
			}
			return nil, fs.ErrNotExist
		})
	}
	if first != nil {
		finders = append(finders, first)
	}
	if len(o.IncludePaths) > 0 {
		finders = append(finders, lang.IncludeFrom(o.MaxSource, o.IncludePaths...))
	}
	if finders == nil {
		return nil
	}
	return func(name string) (*source.File, error) {
		for _, find := range finders[:len(finders)-1] {
			if f, err := find(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
				return f, err
			}
		}
		return finders[len(finders)-1](name)
	}
}

// compileText compiles a text and keeps it, with what it includes.
func compileText(ctx context.Context, name, text string, o CompileOptions, include func(string) (*source.File, error)) (*Model, error) {
	if ctx == nil {
		return nil, ErrNoContext
	}
	m := &Model{name: name, options: o, texts: []sourceText{{name, text}}}
	options := compile.Options{Legacy: o.Legacy, MaxSource: o.MaxSource}
	if include != nil {
		options.Include = func(name string) (*source.File, error) {
			f, err := include(name)
			if err == nil && !slices.ContainsFunc(m.texts[1:], func(t sourceText) bool { return t.Name == name }) {
				m.texts = append(m.texts, sourceText{name, f.Text})
			}
			return f, err
		}
	}
	var list diag.List
	var err error
	if m.program, list, err = compile.CompileContext(ctx, source.NewFile(name, text), options); err != nil {
		return nil, err
	}
	if list.HasErrors() {
		return nil, &compile.Error{List: list}
	}
	m.warnings = list
	return m, nil
}

// CompileFile compiles the model in a file. Files of #include lines are looked
// for in the same folder.
func CompileFile(path string) (*Model, error) {
	return CompileFileContext(context.Background(), path, CompileOptions{})
}

// CompileFileContext is [CompileFile] with options, that returns when ctx ends; the error
// then wraps its cause. Include paths are searched after the folder of the file.
func CompileFileContext(ctx context.Context, path string, o CompileOptions) (*Model, error) {
	text, err := source.ReadFile(path, o.MaxSource)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model: %w", err)
	}
	o.IncludePaths = append([]string{filepath.Dir(path)}, o.IncludePaths...)
	return CompileContext(ctx, path, text, o)
}

// CompileFS is [CompileFile] of a file in a file system, such as an embed.FS. Files of #include
// lines are looked for next to it.
func CompileFS(files fs.FS, name string) (*Model, error) {
	return CompileFSContext(context.Background(), files, name, CompileOptions{})
}

// CompileFSContext is [CompileFS] with options, that returns when ctx ends; the error then wraps
// its cause. Texts in Included come before files, and folders of IncludePaths after those next to
// the model.
func CompileFSContext(ctx context.Context, files fs.FS, name string, o CompileOptions) (*Model, error) {
	if files == nil {
		return nil, errors.New("ppl: there is no file system")
	}
	read := func(name string) (text string, err error) {
		f, err := files.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		return source.ReadAll(f, name, o.MaxSource)
	}
	text, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model: %w", err)
	}
	return compileText(ctx, name, text, o, o.include(func(include string) (*source.File, error) {
		text, err := read(path.Join(path.Dir(name), include))
		if err != nil {
			return nil, err
		}
		return source.NewFile(include, text), nil
	}))
}

// Options say how the model was compiled.
func (m *Model) Options() CompileOptions {
	if m == nil {
		return CompileOptions{}
	}
	return m.options
}

// Program is the compiled program, for packages that derive from it.
func (m *Model) Program() *compile.Program {
	if m == nil {
		return nil
	}
	return m.program
}

// Included are the texts of the #include lines of the model, by the names in them:
// for [CompileOptions.Included].
func (m *Model) Included() map[string]string {
	all := map[string]string{}
	if m.Err() != nil {
		return all
	}
	for _, t := range m.texts[1:] {
		all[t.Name] = t.Text
	}
	return all
}

// Text is the source text, without what it includes.
func (m *Model) Text() string {
	if m.Err() != nil {
		return ""
	}
	return m.texts[0].Text
}

// Name is the name that the model was compiled under.
func (m *Model) Name() string {
	if m == nil {
		return ""
	}
	return m.name
}

// Warnings are remarks of the compiler about a text without errors. They are
// shown by diag.Render.
func (m *Model) Warnings() diag.List {
	if m == nil {
		return nil
	}
	return m.warnings
}

// Err is nil for a model that [Compile] has made, and an error for a nil or zero one.
func (m *Model) Err() error {
	if m == nil || m.program == nil {
		return errors.New("ppl: there is no model; Compile makes one, if its error is nil")
	}
	return nil
}

// JSON is data in Stan's JSON format, for [Model.Bind].
type JSON []byte

// DataFile is the name of a file with data in any of the formats that the command
// ppl reads, by its name or text: JSON, CSV, R's dump format, each also compressed
// by gzip; for [Model.Bind]. Counts are variables that a CSV file lacks: N, the
// number of its rows, or J=school, that of the levels of a column. As, if not nil, are
// data that were read before, such as those of fit.Fit.Data: a CSV file is read as they
// were, the levels of a factor numbered as there, and the same is counted.
type DataFile struct {
	Path   string
	Counts []string
	As     *data.Set
}

// BindOptions are options of [Model.BindContext]. The zero value is the default.
type BindOptions struct {
	// Seed of random numbers that are drawn in transformed data.
	Seed uint64

	// NoPropto keeps the constant terms that a statement with ~ drops.
	NoPropto bool

	// NoJacobian leaves out the log Jacobians of the transforms of constrained
	// parameters: the density over constrained values at the given point.
	NoJacobian bool

	// Print receives what print statements print, one call per statement,
	// without the line break. Calls do not overlap. nil: nothing is printed.
	Print func(string)

	// MaxPrint is the largest number of bytes passed to Print, clones included; 0: 64 MiB. One
	// evaluation may print a megabyte. Output that is cut off ends with a note.
	MaxPrint int64

	// StanCompat selects the transforms of an older version of Stan, for comparisons: "2.32", whose
	// simplexes use stick-breaking. The posterior is the same; unconstrained points and the log
	// density over them differ. "" selects the newest.
	StanCompat string

	// Memory is the number of bytes that binding, and an evaluation of the posterior by one chain,
	// may take. A request beyond it is refused with the line that makes it. 0: half of the memory
	// of the machine, or of the control group of the process.
	Memory int64

	// Statements is the largest number of statements of the model that may run while it is bound,
	// as in transformed data, and for the generated quantities of a draw if these are interpreted.
	// It ends loops that would never end. A statement of the model block counts as a hundred, each
	// time that it is written out: in each iteration of an unrolled loop, and in each call of a
	// function. 0: a thousand million.
	Statements int64

	// AllowImpossible binds data that rule out every value of the parameters, such as a
	// binomial count above its number of trials, which are an error otherwise. It is for
	// posteriors that are evaluated rather than sampled, where a rejection is an answer.
	AllowImpossible bool

	// Without leaves out passes of the compiler, by name, to study the compiler. Results do not
	// depend on them, up to rounding.
	Without []string
}

// Bind binds the model to data, which are one of
//
//   - a map from names to values, such as map[string]any;
//   - a struct, or a pointer to one, with fields named by tags `ppl:"name"` or
//     `json:"name"` or by themselves;
//   - [JSON] or a [DataFile];
//   - a *data.Set;
//   - nil for a model without data.
//
// Values in Go are numbers, slices of them to any depth, and matrices and
// vectors of gonum. A variable that is declared int takes values of Go's
// integer types only. A time.Time and a time.Duration are refused, as they have no unit.
//
// A key of a map that the model does not declare is an error, and so is a field with numbers of a
// struct; the tag `ppl:"-"` leaves a field out. As in Stan, JSON and files may have more than the
// model declares, and so may sets. Values may share parts, but not contain themselves.
//
// Data that rule out every value of the parameters are an error, such as a binomial count above
// its number of trials, see [BindOptions.AllowImpossible]. The error says which variable or
// statement is wrong and why, see [Diagnostics].
func (m *Model) Bind(values any) (*Posterior, error) {
	return m.BindContext(context.Background(), values, BindOptions{})
}

// BindContext is [Model.Bind] with options. It ends early, within some 50 ms, when ctx
// does; the error then wraps its cause. The posterior does not depend on ctx.
func (m *Model) BindContext(ctx context.Context, values any, o BindOptions) (*Posterior, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, ErrNoContext
	}
	memory := m.program.MemoryOr(o.Memory)
	set, err := readData(values, memory)
	if err != nil {
		return nil, err
	}
	if err := known(values, set, m.program.IR().Data, "the model declares no variable `%s` in its data block"); err != nil {
		return nil, err
	}
	set, _, err = m.program.Coded(set)
	if err != nil {
		return nil, err
	}
	bound, err := m.program.BindContext(ctx, set, compile.BindOptions{
		Memory:     memory,
		Statements: o.Statements,
		Seed:       o.Seed,
		NoPropto:   o.NoPropto,
		NoJacobian: o.NoJacobian,
		Print:      serial(o.Print),
		MaxPrint:   o.MaxPrint,
		Without:    o.Without,
		StanCompat: o.StanCompat,
	})
	if err == nil && !o.AllowImpossible {
		err = bound.Impossible()
	}
	if err != nil {
		return nil, err
	}
	return &Posterior{name: m.name, model: m, values: set, options: o, bound: bound}, nil
}

// ReadData makes a set of data from anything that [Model.Bind] accepts. Bind accepts the set too.
func ReadData(values any) (*data.Set, error) { return readData(values, 0) }

// readData is ReadData within so many bytes of memory; 0: the default.
func readData(values any, memory int64) (*data.Set, error) {
	o := data.Options{Memory: compile.MemoryOr(memory)}
	switch v := values.(type) {
	case JSON:
		return data.ParseText("data", string(v), o)
	case DataFile:
		text, err := data.ReadText(v.Path, o)
		if err != nil {
			return nil, err
		}
		o.Counts, o.As = data.ReadCounts(v.Counts), v.As
		return data.Parse(v.Path, text, o)
	}
	return data.FromGoWith(values, o)
}

// declaredNames are the names of variables, of a tuple its own.
func declaredNames(vars []*ir.Var) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, leaves := range ir.Declared(vars) {
			if !yield(ir.DeclaredName(leaves)) {
				return
			}
		}
	}
}

// known refuses a key of a map of Go, or a field of a struct with numbers, that is no declared
// name: it is a slip of the pen, as such values are written for a model. Files, and sets that were
// read before, are often for several models, as in Stan.
func known(values any, set *data.Set, declared []*ir.Var, message string) error {
	t := reflect.TypeOf(values)
	for t != nil && t.Kind() == reflect.Pointer && t != reflect.TypeFor[*data.Set]() {
		t = t.Elem()
	}
	switch {
	case t == nil || t == reflect.TypeFor[DataFile]():
		return nil
	case t.Kind() != reflect.Map && t.Kind() != reflect.Struct:
		return nil
	}
	for _, name := range set.Names() {
		if set.Fault(name) != nil {
			continue // of a struct: a text, say, which is no data of any model
		}
		found := false
		for _, leaves := range ir.Declared(declared) {
			found = found || ir.DeclaredName(leaves) == name
		}
		if found {
			continue
		}
		d := diag.Diagnostic{Code: diag.DataUnknown, Summary: fmt.Sprintf(message, name)}
		if near := diag.Nearest(name, declaredNames(declared)); near != "" && set.Struct() {
			d.Fix = fmt.Sprintf("did you mean `%s`? A tag gives the field that name: `ppl:\"%s\"`", near, near)
		} else if near != "" {
			d.Fix = fmt.Sprintf("did you mean `%s`?", near)
		} else if set.Struct() {
			d.Fix = "leave the field out by the tag `ppl:\"-\"`, or bind what ReadData makes of the struct, which may have more than a model asks for"
		} else {
			d.Fix = "leave it out, or bind what ReadData makes of the map, which may have more than a model asks for"
		}
		return &compile.Error{List: diag.List{d}}
	}
	return nil
}

// serial makes f safe for concurrent use.
func serial(f func(string)) func(string) {
	if f == nil {
		return nil
	}
	var mu sync.Mutex
	return func(s string) {
		mu.Lock()
		defer mu.Unlock()
		f(s)
	}
}

// Version is the version of this module, as far as the build knows it.
func Version() string { return buildinfo.Read().Version }
