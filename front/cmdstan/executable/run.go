package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// Streams has the input and output of an executable, its environment, and its limits.
type Streams struct {
	Out, Err io.Writer
	Getenv   func(string) string

	// Memory returns the memory limit of a run in bytes; nil: [compile.DefaultMemory].
	Memory func() (int64, error)

	// Words returns how users can change a setting that a diagnostic mentions, such as "memory". If
	// it is nil or returns "", the message does not mention the setting.
	Words func(setting string) string
}

// Limit returns the memory limit of a run in bytes.
func (s Streams) Limit() (int64, error) {
	if s.Memory == nil {
		return compile.DefaultMemory(), nil
	}
	return s.Memory()
}

// run is one run of an executable.
type run struct {
	ctx     context.Context
	program *Program
	config  *grammar.Config
	env     func(string) string
	memory  int64
	words   func(setting string) string
	started time.Time

	mu  sync.Mutex // guards out and err
	out io.Writer
	err io.Writer

	model *model.Model
	data  *data.Set

	chains int
	id     int

	// For the times of profile statements: the number of evaluations of the density and of the
	// generated quantities, and a point to measure at.
	evaluations, generated int64
	point                  []float64

	substituted bool // EngineVariable has replaced the engine in the arguments

	check   *selfcheck.Check // for methods other than sample, which has its own check
	visited [][]float64      // points of the results, at some of which log densities are compared

	iterations [][]float64 // for the diagnostic file of variational
}

// status is the exit code for an error that was already printed.
type status int

func (s status) Error() string { return "exit code " + strconv.Itoa(int(s)) }

// interrupted is the exit code of a run that a signal has ended, by the convention of shells.
const interrupted = 130

// Run runs a model's executable and returns its exit code: 0 or 1, or 130 if ctx has ended. exe is
// its name in messages.
func Run(ctx context.Context, exe string, program *Program, args []string, s Streams) int {
	threads, threadsErr := environmentThreads(s.Getenv)
	config, outcome := grammar.Parse(exe, args, grammar.Table(strconv.Itoa(threads)), s.Out, s.Err)
	switch outcome {
	case grammar.Helped:
		return 0
	case grammar.Asked:
		writeInfo(s.Out, program)
		return 0
	case grammar.Refuse:
		if len(args) > 0 {
			fmt.Fprintln(s.Err, "Failed to parse command arguments, cannot run model.")
		}
		return 1
	}
	r := &run{ctx: ctx, program: program, config: config, env: s.Getenv, words: s.Words, started: time.Now(), out: s.Out, err: s.Err}
	err := threadsErr
	if err == nil {
		r.memory, err = s.Limit()
	}
	if err == nil {
		err = r.do(threads)
	}
	var code status
	switch {
	case errors.As(err, &code):
		return int(code)
	case err != nil && ctx.Err() != nil:
		return interrupted
	case err != nil:
		fmt.Fprintln(s.Err, strings.TrimRight(exception(err, s.Words), "\n"))
		return 1
	}
	return 0
}

// methods lists the methods of CmdStan. check checks the other arguments before the model is read;
// bind returns the options for binding the model.
var methods = map[string]struct {
	check func(*run) error
	bind  func(*run) model.BindOptions
	do    func(*run, *model.Posterior) error
}{
	"sample":              {(*run).checkSample, nil, (*run).sample},
	"optimize":            {nil, func(r *run) model.BindOptions { return model.BindOptions{NoJacobian: !r.flag("optimize.jacobian")} }, (*run).optimize},
	"laplace":             {(*run).checkLaplace, func(r *run) model.BindOptions { return model.BindOptions{NoJacobian: !r.flag("laplace.jacobian")} }, (*run).laplace},
	"pathfinder":          {nil, func(*run) model.BindOptions { return model.BindOptions{NoPropto: true} }, (*run).pathfinder},
	"variational":         {nil, func(*run) model.BindOptions { return model.BindOptions{NoPropto: true} }, (*run).variational},
	"generate_quantities": {(*run).checkGenerate, nil, (*run).generate},
	"log_prob":            {(*run).checkLogProb, func(r *run) model.BindOptions { return model.BindOptions{NoJacobian: !r.flag("log_prob.jacobian")} }, (*run).logProb},
	"diagnose":            {nil, nil, (*run).diagnose},
}

// text, flag, integer and real return the values of the method's arguments.
func (r *run) text(path string) string  { return r.config.Text("method." + path) }
func (r *run) flag(path string) bool    { return r.config.Bool("method." + path) }
func (r *run) integer(path string) int  { return r.config.Int("method." + path) }
func (r *run) real(path string) float64 { return r.config.Real("method." + path) }

func (r *run) refresh() int { return r.config.Int("output.refresh") }

func (r *run) do(environment int) error {
	method := methods[r.config.Text("method")]
	if n := r.config.Int("num_threads"); environment != 1 && n != environment {
		return fmt.Errorf("STAN_NUM_THREADS= %d but argument num_threads= %d. Please either only set one or make sure they are equal.", environment, n)
	}
	r.id = r.config.Int("id")
	r.chains = 1
	switch m := r.config.Text("method"); m {
	case "pathfinder":
		r.chains = r.integer("pathfinder.num_paths")
	case "generate_quantities", "sample":
		r.chains = r.integer(m + ".num_chains")
	}
	if err := infer.CheckOption("chains", r.chains); err != nil {
		return err
	}
	if err := r.checkFiles(); err != nil {
		return err
	}
	if method.check != nil {
		if err := method.check(r); err != nil {
			return err
		}
	}
	if err := r.fromEnvironment(); err != nil {
		return err
	}
	for _, line := range r.config.Lines() {
		fmt.Fprintln(r.out, line)
	}
	fmt.Fprintln(r.out)
	options := model.BindOptions{}
	if method.bind != nil {
		options = method.bind(r)
	}
	p, err := r.bind(options)
	if err != nil {
		return err
	}
	if err := r.saveConfig(); err != nil {
		return err
	}
	for again := true; again; {
		r.visited = nil
		if err := method.do(r, p); err != nil {
			return err
		}
		if again, err = r.compare(&p); err != nil {
			return err
		}
	}
	if err := r.writeIterations(); err != nil {
		return err
	}
	return r.writeProfile(p)
}

// bind reads the data and binds the model to them.
func (r *run) bind(o model.BindOptions) (*model.Posterior, error) {
	var err error
	if r.data, err = r.readValues(r.config.Text("data.file")); err != nil {
		return nil, err
	}
	if r.model, err = r.program.Compile(r.ctx); err != nil {
		return nil, err
	}
	return r.rebind(o)
}

// rebind binds the model to the data again, with other options.
func (r *run) rebind(o model.BindOptions) (*model.Posterior, error) {
	o.Seed = r.config.Seed()
	o.AllowImpossible = true // front ends expect CmdStan's message for a failed start
	o.Memory = r.memory
	o.Print = func(s string) { r.say("%s", s) }
	p, err := r.model.BindContext(r.ctx, r.data, o)
	if err != nil {
		return nil, err
	}
	if r.config.Text("method") != "sample" { // sample also compares at its draws
		if r.check, err = fit.Trust(r.ctx, p, r.config.Seed()); err != nil {
			return nil, err
		}
		p = p.With(r.check.Bound())
		r.printDensity(selfcheck.Findings(r.check.Record()))
	}
	p.SetWorkers(r.threads()) // for evaluations of p itself; chains use clones
	return p, nil
}

// compare compares the log density with the reference evaluator at points of the results. If it was
// wrong there, p gets another program, and compare returns true: the method must run again.
func (r *run) compare(p **model.Posterior) (again bool, err error) {
	if r.check == nil || len(r.visited) == 0 {
		return false, nil
	}
	before := len(r.check.Record().Wrong)
	if again, err = r.check.Draws(r.ctx, r.visited...); !again || err != nil {
		return false, err
	}
	r.printDensity(selfcheck.Findings(r.check.Record())[before:])
	*p = (*p).With(r.check.Bound())
	(*p).SetWorkers(r.threads())
	r.iterations, r.point = nil, nil
	return true, nil
}

// printDensity prints where the log density was wrong.
func (r *run) printDensity(findings []diagnose.Finding) {
	for _, f := range findings {
		if f.Severity == diagnose.Problem {
			r.complain("%s\n%s", f.Summary, f.Advice)
		}
	}
}

// say prints a line on the standard output, complain on the standard error.
func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *run) complain(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.err, format+"\n", args...)
}

// environmentThreads returns the value of STAN_NUM_THREADS.
func environmentThreads(getenv func(string) string) (int, error) {
	text := getenv("STAN_NUM_THREADS")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n == 0 || n < -1 {
		return 1, fmt.Errorf("The STAN_NUM_THREADS environment variable is '%s' but it must be a positive number or -1", text)
	}
	return n, nil
}

// threads returns the number of chains that may run at a time.
func (r *run) threads() int {
	if n := r.config.Int("num_threads"); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// writeInfo prints what the argument info asks for.
func writeInfo(w io.Writer, p *Program) {
	fmt.Fprintf(w, "stan_version_major = %d\nstan_version_minor = %d\nstan_version_patch = %d\n", stan.Major, stan.Minor, stan.Patch)
	for _, flag := range stan.Flags {
		fmt.Fprintf(w, "%s=%t\n", flag, p.Flags[flag])
	}
}

// exception formats an error as CmdStan's clients expect it. If the model or its data are wrong,
// the first line begins with Exception, and the details follow.
func exception(err error, words func(setting string) string) string {
	var rejection *compile.Rejection
	if errors.As(err, &rejection) {
		return rejected(rejection)
	}
	list := model.Diagnostics(err)
	if list == nil {
		return err.Error()
	}
	var b strings.Builder
	if words, _, ok := strings.Cut(err.Error(), "\n"); ok && strings.HasPrefix(words, "Exception: ") {
		b.WriteString(words + "\n") // keep the words of an earlier call of unfit
	}
	for _, d := range list {
		fmt.Fprintf(&b, "Exception: %s%s%s\n", standing(d), d.Summary, place(d.Span.IsValid(), d))
	}
	diag.Render(&b, list.Worded(words), diag.Options{})
	return b.String()
}

// standing returns CmdStan's words for errors in data for which front ends search.
func standing(d diag.Diagnostic) string {
	_, name, _ := strings.Cut(d.Summary, "`") // the first that it names
	name, _, _ = strings.Cut(name, "`")
	switch d.Code {
	case diag.DataMissing:
		return "variable does not exist; processing stage=data initialization; variable name=" + name + "; "
	case diag.DataSize:
		return "mismatch in dimension declared and found in context; processing stage=data initialization; variable name=" + name + "; "
	}
	return ""
}

// rejected returns the message about a point that the model rejects.
func rejected(r *compile.Rejection) string {
	return "Exception: " + stanWords(r.Err.Error()) + place(r.Span.IsValid(), diag.Diagnostic{Span: r.Span})
}

var (
	checkWords = regexp.MustCompile(`^(.*) must be (.*), but is (\S+)$`)
	placeWords = regexp.MustCompile(`^(.*) \(([^()]*), line (\d+), column (\d+)\)$`)
)

// stanWords converts the message of a check to the form of Stan's library, which other programs
// search for: sigma is -1, but must be positive!
func stanWords(text string) string {
	if m := placeWords.FindStringSubmatch(text); m != nil {
		column, _ := strconv.Atoi(m[4])
		return fmt.Sprintf("%s (in '%s', line %s, column %d)", stanWords(m[1]), m[2], m[3], column-1)
	}
	return checkWords.ReplaceAllString(text, "$1 is $3, but must be $2!")
}

// place returns the position of a message, in the format of Stan's generated C++.
func place(known bool, d diag.Diagnostic) string {
	if !known || !d.Span.IsValid() {
		return ""
	}
	from := d.Span.Origin().Begin()
	end := d.Span.Origin()
	to := end.File.Position(end.End)
	if to.Line == from.Line {
		return fmt.Sprintf(" (in '%s', line %d, column %d to column %d)", from.File, from.Line, from.Column-1, to.Column-1)
	}
	return fmt.Sprintf(" (in '%s', line %d, column %d to line %d, column %d)", from.File, from.Line, from.Column-1, to.Line, to.Column-1)
}

// reason returns a line that describes why an evaluation failed.
func reason(err error) string {
	var rejection *compile.Rejection
	if errors.As(err, &rejection) {
		return rejected(rejection)
	}
	return "Exception: " + err.Error()
}

// heads returns the comments at the beginning of a file.
func (r *run) heads(replaced map[string]string) []draws.Setting {
	head := []draws.Setting{
		{Name: "stan_version_major", Value: strconv.Itoa(stan.Major)},
		{Name: "stan_version_minor", Value: strconv.Itoa(stan.Minor)},
		{Name: "stan_version_patch", Value: strconv.Itoa(stan.Patch)},
		{Name: "model", Value: r.program.Name},
		{Name: "start_datetime", Value: r.date()},
	}
	settings := r.config.Settings(replaced)
	if r.substituted && r.config.Text(enginePath) == "static" { // front ends look for it, see grammar.Table
		for i := range settings {
			settings[i] = settings[i].Under("static", draws.Setting{Name: "max_depth", Value: "10", Default: true})
		}
	}
	return append(append(head, settings...),
		draws.Setting{Name: "stanc_version", Value: stan.Stanc},
		draws.Setting{Name: "stancflags", Value: r.program.StancFlags})
}

func (r *run) date() string { return r.started.UTC().Format(time.DateTime + " UTC") }

// saveConfig writes the configuration as JSON, if the arguments ask for it.
func (r *run) saveConfig() error {
	if !r.config.Bool("output.save_cmdstan_config") {
		return nil
	}
	base, _ := splitSuffix(r.config.Text("output.file"))
	b := fmt.Appendf(nil, "{\n  \"stan_major_version\" : \"%d\",\n  \"stan_minor_version\" : \"%d\",\n  \"stan_patch_version\" : \"%d\",\n", stan.Major, stan.Minor, stan.Patch)
	b = fmt.Appendf(b, "  \"model_name\" : %q,\n  \"start_datetime\" : %q,\n", r.program.Name, r.date())
	b = r.config.AppendJSON(b, "  ")
	b = append(b[:len(b)-1], ",\n"...)
	b = fmt.Appendf(b, "  \"mpi_enabled\" : false,\n  \"stanc_version\" : %q,\n  \"stancflags\" : %q\n}\n", stan.Stanc, r.program.StancFlags)
	return replaceFile(base+"_config.json", b)
}

// replaceFile writes a file atomically.
func replaceFile(path string, text []byte) error {
	if err := files.Save(filepath.Clean(path), text); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
