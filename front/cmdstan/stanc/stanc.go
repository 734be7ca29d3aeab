package stanc

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/stdlib"
)

// The exit codes of stanc.
const (
	exitError = 1
	exitUsage = 124
)

// Run runs stanc and returns its exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "stanc: %v.\nUsage: stanc [--help] [OPTION]… [MODEL_FILE]\n", err)
		return exitUsage
	}
	switch {
	case o.help:
		o.printHelp(stdout)
		return 0
	case o.version:
		fmt.Fprintf(stdout, "stanc3 v%s (%s, by ppl %s)\n", stan.Version, runtime.GOOS, model.Version())
		return 0
	case o.model == "":
		fmt.Fprintln(stderr, "stanc: No model file provided.\nUsage: stanc [--help] [OPTION]… [MODEL_FILE]")
		return exitUsage
	}
	text, err := o.read()
	if err != nil {
		fmt.Fprintf(stderr, "Error: %v\n", err)
		return exitError
	}
	file := source.NewFile(o.FileName(), text)
	list := o.check(file)
	o.tell(stderr, list)
	if list.HasErrors() {
		return exitError
	}
	result := ""
	switch {
	case o.format:
		if result, list = o.lay(file); list.HasErrors() {
			o.tell(stderr, list)
			return exitError
		}
	case o.info:
		tree, _ := lang.ParseWith(file, lang.Options{Include: lang.IncludeFrom(0, o.folders()...)})
		facts, _ := check.Check(tree, stdlib.Language())
		result = info(tree, facts, o.included(file))
	default:
		tree, _ := lang.ParseWith(file, lang.Options{Include: lang.IncludeFrom(0, o.folders()...)})
		result = o.instead(text, tree)
		if o.output == "" {
			o.output = strings.TrimSuffix(o.model, filepath.Ext(o.model)) + ".hpp"
		}
	}
	if o.output == "" {
		_, err = io.WriteString(stdout, result)
	} else {
		err = files.Save(o.output, []byte(result))
	}
	if err != nil {
		fmt.Fprintf(stderr, "Error: %v\n", err)
		return exitError
	}
	return 0
}

// Compile checks a model as stanc does, and compiles it. If it returns no model, it has printed the
// reason and returns the exit code.
func Compile(ctx context.Context, args []string, stdout, stderr io.Writer) (*Options, *model.Model, int) {
	o, err := parse(args)
	if err == nil && o.model == "" {
		err = errors.New("No model file provided")
	}
	if err != nil {
		fmt.Fprintf(stderr, "stanc: %v.\n", err)
		return nil, nil, exitUsage
	}
	text, err := o.read()
	if err != nil {
		fmt.Fprintf(stderr, "Error: %v\n", err)
		return nil, nil, exitError
	}
	if o.undefined {
		if list := o.check(source.NewFile(o.FileName(), text)); !list.HasErrors() && o.bodiless(text) {
			fmt.Fprintln(stderr, "Error: the model has functions without a body (--allow-undefined), which are to come from C++. There is no C++ here: write them in the model's functions block.")
			return nil, nil, exitError
		}
	}
	m, err := model.CompileContext(ctx, o.FileName(), text, model.CompileOptions{IncludePaths: o.folders()})
	if err != nil {
		if list := model.Diagnostics(err); list != nil {
			o.tell(stderr, list)
		} else {
			fmt.Fprintf(stderr, "Error: %v\n", err)
		}
		return nil, nil, exitError
	}
	o.tell(stderr, o.check(source.NewFile(o.FileName(), text)))
	return o, m, 0
}

func (o *Options) read() (string, error) {
	text, err := source.ReadFile(o.model, 0)
	if err != nil {
		return "", fmt.Errorf("file '%s' not found or cannot be opened", o.model)
	}
	return text, nil
}

// folders returns the folders in which #include files are searched.
func (o *Options) folders() []string {
	if len(o.include) > 0 {
		return o.include
	}
	return []string{filepath.Dir(o.model)}
}

func (o *Options) compileOptions() compile.Options {
	return compile.Options{Pedantic: o.pedantic, Include: lang.IncludeFrom(0, o.folders()...)}
}

// check returns the diagnostics of a model. Functions without a body are accepted if the options
// allow them.
func (o *Options) check(f *source.File) diag.List {
	list := compile.Check(f, o.compileOptions())
	if o.undefined {
		list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code == diag.NoDefinition })
	}
	return list
}

// bodiless reports whether a model has functions without a body.
func (o *Options) bodiless(text string) bool {
	return slices.ContainsFunc(compile.Check(source.NewFile(o.FileName(), text), o.compileOptions()), func(d diag.Diagnostic) bool { return d.Code == diag.NoDefinition })
}

// included lists the files that #include lines name.
func (o *Options) included(f *source.File) []string {
	files := []string{}
	find := lang.IncludeFrom(0, o.folders()...)
	lang.ParseWith(f, lang.Options{Include: func(name string) (*source.File, error) {
		included, err := find(name)
		if err == nil && !slices.Contains(files, included.Name) {
			files = append(files, included.Name)
		}
		return included, err
	}})
	return files
}

// lay lays the model out.
func (o *Options) lay(f *source.File) (string, diag.List) {
	has := func(name string) bool { return slices.Contains(o.canonicalize, name) }
	options := format.Options{Width: o.width, Parentheses: has("parentheses"), Braces: has("braces")}
	if has("deprecations") {
		options.Known = compile.Known
	}
	if has("includes") {
		options.Include = lang.IncludeFrom(0, o.folders()...)
	}
	return format.With(f, options)
}

// stancWords are stanc's texts of warnings about a parameter, which front ends look for.
var stancWords = map[diag.Code]string{
	diag.NoPriorOfItsOwn: "The parameter %s has no priors.",
	diag.NoPrior:         "The parameter %s was declared but was not used in the density calculation.",
	diag.OnlyBounds:      "The parameter %s was declared but was not used in the density calculation.",
}

// words returns stanc's option for a setting that a diagnostic mentions.
func words(setting string) string {
	switch setting {
	case "include-path":
		return "--include-paths"
	case "upgrade":
		return "`ppl fmt --upgrade` rewrites the program"
	}
	return ""
}

// tell prints messages: first a line in the form that front ends expect, then, for errors, all
// details.
func (o *Options) tell(w io.Writer, list diag.List) {
	for _, d := range list {
		kind := "Semantic error"
		switch {
		case d.Severity != diag.Error:
			kind = "Warning"
		case strings.HasPrefix(string(d.Code), "E01"):
			kind = "Syntax error"
		}
		if d.Span.IsValid() {
			at := d.Span.Origin().Begin()
			fmt.Fprintf(w, "%s in '%s', line %d, column %d: ", kind, at.File, at.Line, at.Column-1)
		} else {
			fmt.Fprintf(w, "%s: ", kind)
		}
		if kind == "Warning" {
			if words, ok := stancWords[d.Code]; ok {
				_, name, _ := strings.Cut(d.Summary, "`")
				name, _, _ = strings.Cut(name, "`")
				fmt.Fprintf(w, words+" ", name)
			}
			fmt.Fprintln(w, d.Summary)
			continue
		}
		fmt.Fprintln(w)
		diag.Render(w, diag.List{d}.Worded(words), diag.Options{})
		fmt.Fprintln(w)
	}
}

func (o *Options) printHelp(w io.Writer) {
	fmt.Fprintln(w, "Usage: stanc [--help] [OPTION]… [MODEL_FILE]\n\nOptions:")
	for _, c := range table {
		name := "--" + c.name
		if c.value != "" {
			name += "=" + c.value
		}
		fmt.Fprintf(w, "  %-28s %s\n", name, c.help)
	}
}
