package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/buildinfo"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Model is a compiled model without data. It is immutable and may be bound any number of times,
// also concurrently.
type Model struct {
	name     string
	program  *compile.Program
	warnings diag.List
	options  CompileOptions
	texts    []sourceText // the model's text, then those that it includes
}

// sourceText is a text of a model, with the name by which #include refers to it.
type sourceText struct{ Name, Text string }

// Compile compiles a model. Messages show the name, usually that of a file. The error has all
// errors in the text, see [Diagnostics].
func Compile(name, text string) (*Model, error) {
	return CompileContext(context.Background(), name, text, CompileOptions{})
}

// CompileOptions are the options of [CompileContext] and [CompileFileContext]. The zero value is
// the default.
type CompileOptions struct {
	// IncludePaths are the folders that are searched for the files of #include lines, in this
	// order. Only regular files in and below them can be included, even by ".." or symbolic links.
	IncludePaths []string

	// Included has texts for #include lines, by the names in these lines. They take precedence over
	// files.
	Included map[string]string

	// Legacy accepts the syntax of older versions of Stan, such as real x[N], with a warning for
	// each place.
	Legacy bool

	// MaxSource is the maximum number of bytes of the text together with its included files; 0: one
	// megabyte.
	MaxSource int64
}

// CompileContext is [Compile] with options. It returns when ctx ends; the error then wraps the
// cause.
func CompileContext(ctx context.Context, name, text string, o CompileOptions) (*Model, error) {
	return compileText(ctx, name, text, o, o.include(nil))
}

// include returns a function that finds the texts of #include lines: in Included, then by first if
// it is not nil, then in files. It returns nil if no text can be included.
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

// compileText compiles a text, and stores it in the model with the texts that it includes.
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

// CompileFile compiles the model in a file. It looks for files of #include lines in the same
// folder.
func CompileFile(path string) (*Model, error) {
	return CompileFileContext(context.Background(), path, CompileOptions{})
}

// CompileFileContext is [CompileFile] with options. It returns when ctx ends; the error then wraps
// the cause. It searches include paths after the folder of the file.
func CompileFileContext(ctx context.Context, path string, o CompileOptions) (*Model, error) {
	text, err := source.ReadFile(path, o.MaxSource)
	if err != nil {
		return nil, fmt.Errorf("cannot read the model: %w", err)
	}
	o.IncludePaths = append([]string{filepath.Dir(path)}, o.IncludePaths...)
	return CompileContext(ctx, path, text, o)
}

// CompileFS is [CompileFile] for a file in a file system, such as an embed.FS. It looks for files
// of #include lines in the same folder.
func CompileFS(files fs.FS, name string) (*Model, error) {
	return CompileFSContext(context.Background(), files, name, CompileOptions{})
}

// CompileFSContext is [CompileFS] with options. It returns when ctx ends; the error then wraps the
// cause. Texts in Included take precedence over files. The folders of IncludePaths are searched
// after the model's folder.
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

// Options returns the options with which the model was compiled.
func (m *Model) Options() CompileOptions {
	if m == nil {
		return CompileOptions{}
	}
	return m.options
}

// Program returns the compiled program, for packages that derive from it.
func (m *Model) Program() *compile.Program {
	if m == nil {
		return nil
	}
	return m.program
}

// Included returns the texts of the model's #include lines, by the names in these lines, for
// [CompileOptions.Included].
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

// Text returns the source text, without included texts.
func (m *Model) Text() string {
	if m.Err() != nil {
		return ""
	}
	return m.texts[0].Text
}

// Name returns the name that was given to Compile.
func (m *Model) Name() string {
	if m == nil {
		return ""
	}
	return m.name
}

// Warnings returns the compiler's warnings. diag.Render prints them.
func (m *Model) Warnings() diag.List {
	if m == nil {
		return nil
	}
	return m.warnings
}

// Err returns nil for a model that [Compile] has made, and an error for a nil or zero model.
func (m *Model) Err() error {
	if m == nil || m.program == nil {
		return errors.New("ppl: there is no model; Compile makes one, if its error is nil")
	}
	return nil
}

// JSON is data in Stan's JSON format, for [Model.Bind].
type JSON []byte

// DataFile names a file with data, for [Model.Bind]. The format is that of the command ppl: JSON,
// CSV, or R's dump format, each also compressed by gzip. The name or the content decides which.
// Counts defines variables that a CSV file lacks: N is the number of rows, J=school the number of
// levels of a column. As, if not nil, are data that were read before, for instance by fit.Fit.Data:
// a CSV file is read in the same way, with the same numbers for the levels of a factor and the same
// counts.
//
// Columns declares how the columns of a table are read. Uses, if not nil, reports whether a column
// is used: only such columns are subject to a treatment of missing values that names no column.
type DataFile struct {
	Path    string
	Counts  []string
	As      *data.Set
	Columns data.Declarations
	Uses    func(column string) bool
}

// BindOptions are options of [Model.BindContext]. The zero value is the default.
type BindOptions struct {
	// Seed is the random seed for transformed data.
	Seed uint64

	// NoPropto keeps the constant terms that statements with ~ drop.
	NoPropto bool

	// NoJacobian leaves out the log Jacobians of the transforms of constrained parameters. The
	// result is the density of the constrained values at the given point.
	NoJacobian bool

	// Print receives the output of print statements, one call per statement, without the line
	// break. Calls do not overlap. nil: nothing is printed.
	Print func(string)

	// MaxPrint is the maximum number of bytes passed to Print, clones included; 0: 64 MiB. One
	// evaluation may print 1 MiB. Truncated output ends with a note.
	MaxPrint int64

	// StanCompat selects the transforms of an older version of Stan, for comparisons: "2.32", whose
	// simplexes use stick-breaking. The posterior is the same; unconstrained points and the log
	// density over them differ. "" selects the newest.
	StanCompat string

	// Doubled is the number of times that the number of values of discrete parameters without an
	// upper bound is doubled, see [compile.BindOptions].
	Doubled int

	// Memory is the maximum number of bytes for binding, and for an evaluation of the posterior by
	// one chain. A larger request is refused with the line that makes it. 0: half of the memory of
	// the machine, or of the control group of the process.
	Memory int64

	// Statements is the maximum number of statements that may run during binding, for instance in
	// transformed data, and for one draw of interpreted generated quantities. It ends infinite
	// loops. A statement of the model block counts as a hundred each time that it is written out:
	// in each iteration of an unrolled loop, and in each call of a function. 0: a thousand million.
	Statements int64

	// AllowImpossible binds data that no parameter values can explain, such as a binomial count
	// above its number of trials. Otherwise they are an error. Set it if you evaluate the posterior
	// instead of sampling it, and accept a rejection as an answer.
	AllowImpossible bool

	// Without leaves out passes of the compiler, by name, to study the compiler. Results do not
	// depend on them, up to rounding.
	Without []string
}

// Bind binds the model to data, which are one of
//
//   - a map from names to values, such as map[string]any;
//   - a struct, or a pointer to one, with fields named by tags `ppl:"name"` or
//     `json:"name"` or by their own names;
//   - [JSON] or a [DataFile];
//   - a *data.Set;
//   - nil for a model without data.
//
// Values in Go are numbers, slices of them to any depth, and matrices and vectors of gonum. A
// variable declared int takes only values of Go's integer types. A time.Time and a time.Duration
// are refused, as they have no unit.
//
// A key of a map that the model does not declare is an error, and so is a field with numbers of a
// struct; the tag `ppl:"-"` leaves a field out. As in Stan, JSON and files may have more than the
// model declares, and so may sets. Values may share parts, but not contain themselves.
//
// Data that rule out every value of the parameters are an error, such as a binomial count above its
// number of trials, see [BindOptions.AllowImpossible]. The error says which variable or statement
// is wrong and why, see [Diagnostics].
func (m *Model) Bind(values any) (*Posterior, error) {
	return m.BindContext(context.Background(), values, BindOptions{})
}

// BindContext is [Model.Bind] with options. It returns about 50 ms after ctx ends; the error then
// wraps the cause. The posterior does not depend on ctx.
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
		Statements: o.Statements, Doubled: o.Doubled,
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

// ReadData converts anything that [Model.Bind] accepts to a data set, which Bind also accepts.
func ReadData(values any) (*data.Set, error) { return readData(values, 0) }

// readData is ReadData with a memory limit in bytes; 0: the default.
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
		return v.Columns.Parse(o, v.Uses, func(o data.Options) (*data.Set, error) { return data.Parse(v.Path, text, o) })
	}
	if instead := meant(values); instead != "" {
		return nil, &data.Error{Message: fmt.Sprintf("data of type %T: %s", values, instead)}
	}
	return data.FromGoWith(values, o)
}

// meant suggests what to bind instead of a value that is almost data, such as a text in JSON; "" if
// there is no suggestion.
func meant(values any) string {
	switch v := values.(type) {
	case *JSON, *DataFile:
		return "give the value, not a pointer to it"
	case io.Reader, *json.Decoder:
		return "read all of it, and give text in Stan's JSON format as ppl.JSON(text)"
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return "give text in Stan's JSON format as ppl.JSON(text)"
		}
		return "give the name of a file as ppl.DataFile{Path: name}, and text in Stan's JSON format as ppl.JSON(text)"
	}
	if t := reflect.TypeOf(values); t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return "give text in Stan's JSON format as ppl.JSON(text)"
	}
	return ""
}

// declaredNames yields the names of the declared variables. A tuple has one name, not one for each
// member.
func declaredNames(vars []*ir.Var) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, leaves := range ir.Declared(vars) {
			if !yield(ir.DeclaredName(leaves)) {
				return
			}
		}
	}
}

// known returns an error if a key of a Go map, or a numeric field of a struct, is not a declared
// name. Such values are made for one model, so this is a mistake. Files and data sets are often
// used for several models, as in Stan.
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
			continue // a struct's field that cannot be data, such as a text
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

// Version returns the version of this module, as far as the build knows it.
func Version() string { return buildinfo.Read().Version }
