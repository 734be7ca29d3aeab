package ppl

import (
	"context"
	"io"
	"io/fs"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// Types of a model and of its posterior. Their methods are documented in package model.
type (
	// Model is a compiled model without data. It is immutable and safe for concurrent use.
	Model = model.Model

	// CompileOptions are options of [CompileContext] and [CompileFileContext].
	CompileOptions = model.CompileOptions

	// Posterior is a model bound to data: a log density over unconstrained parameters, with its
	// gradient. Any number of goroutines may [Sample] it at the same time. Only one goroutine at a
	// time may call its methods; [Posterior.Clone] makes copies for others.
	Posterior = model.Posterior

	// BindOptions are options of [Model.BindContext].
	BindOptions = model.BindOptions

	// JSON is data in Stan's JSON format, for [Model.Bind].
	JSON = model.JSON

	// DataFile names a file of data (JSON, CSV, R's dump format), for [Model.Bind].
	DataFile = model.DataFile
)

// Types of a run. Their methods are documented in package fit.
type (
	// Options configure [Sample]: sampler, chains, seed, files.
	Options = fit.Options

	// Run is a run that yields its draws or its progress in a loop, and that can be inspected
	// meanwhile.
	Run = fit.Run

	// Draw is a draw of a [Run]. Values has the quantities that [Posterior.OutputNames] names.
	Draw = infer.Draw

	// Limits are the limits on resources that several runs share, see [Options.Limits].
	Limits = fit.Limits

	// Fit is the result of a run: draws, summary, findings.
	Fit = fit.Fit

	// Variable has the draws of a whole variable, with its shape.
	Variable = fit.Variable

	// Quantity has the draws of one number, such as theta[3].
	Quantity = fit.Quantity

	// Row is a row of [Fit.Summary].
	Row = diagnose.Row

	// Finding is a problem of a run, with advice.
	Finding = diagnose.Finding

	// Sampler is an algorithm for [Options.Sampler]. Package infer/sampler lists those of ppl.
	Sampler = infer.Sampler

	// Progress is the progress of a run, see [Run.Progress].
	Progress = fit.Progress
)

// Errors of runs, for errors.As. Errors in models and data are [Diagnostics].
type (
	// InterruptedError says that the context was done before the run ended. The fit has the draws
	// so far.
	InterruptedError = fit.InterruptedError

	// LimitError says that a run needs more than its [Limits] allow.
	LimitError = fit.LimitError

	// PanicError is a panic in a density or a sampler, which has ended a chain.
	PanicError = infer.PanicError

	// OutputError says that a file could not be written.
	OutputError = fit.OutputError

	// DrawsError says that the draws do not fit into memory.
	DrawsError = fit.DrawsError

	// DamagedError says which files of a run to resume are damaged, and what can be saved.
	DamagedError = fit.DamagedError
)

// Compile compiles a model. The name, usually that of a file, appears in messages.
func Compile(name, text string) (*Model, error) { return model.Compile(name, text) }

// CompileContext is [Compile] with options. It returns when ctx ends.
func CompileContext(ctx context.Context, name, text string, o CompileOptions) (*Model, error) {
	return model.CompileContext(ctx, name, text, o)
}

// CompileFile compiles the model in a file. It looks for files of #include lines in the same
// folder.
func CompileFile(path string) (*Model, error) { return model.CompileFile(path) }

// CompileFileContext is [CompileFile] with options. It returns when ctx ends.
func CompileFileContext(ctx context.Context, path string, o CompileOptions) (*Model, error) {
	return model.CompileFileContext(ctx, path, o)
}

// CompileFS is [CompileFile] of a file in a file system, such as an embed.FS.
func CompileFS(files fs.FS, name string) (*Model, error) { return model.CompileFS(files, name) }

// ReadData reads what [Model.Bind] accepts. The result can be bound many times.
func ReadData(values any) (*data.Set, error) { return model.ReadData(values) }

// Sample samples a posterior. It returns when all chains have ended, or soon after ctx ends. The
// fit then has the draws so far, and the error is an [InterruptedError].
func Sample(ctx context.Context, p *Posterior, o Options) (*Fit, error) {
	return fit.Sample(ctx, p, o)
}

// NewRun is [Sample] in steps. [Run.Draws] ranges over the draws, or [Run.Progress] over the
// progress of the chains. [Run.Fit] returns the fit.
func NewRun(ctx context.Context, p *Posterior, o Options) (*Run, error) {
	return fit.NewRun(ctx, p, o)
}

// NewLimits makes [Limits] with a number of processors, and a number of bytes for evaluations and
// draws. 0 bytes means no limit.
func NewLimits(processors int, bytes int64) (*Limits, error) { return fit.NewLimits(processors, bytes) }

// ReadFit reads a run from a folder that [Fit.Save] or `ppl run` has written.
func ReadFit(folder string) (*Fit, error) { return fit.ReadFit(folder) }

// ReadFS is [ReadFit] for the files in a file system, such as an embed.FS.
func ReadFS(files fs.FS) (*Fit, error) { return fit.ReadFS(files) }

// ReadArchive reads a fit of size bytes that [Fit.WriteTo] has written.
func ReadArchive(r io.ReaderAt, size int64) (*Fit, error) { return fit.ReadArchive(r, size) }

// ReadCSV reads draws from CSV files in CmdStan's format, one for each chain.
func ReadCSV(paths ...string) (*Fit, error) { return fit.ReadCSV(paths...) }

// Diagnostics returns the messages in an error, with positions in the source. [diag.Render] prints
// them with their lines. It returns nil for an error without positions.
func Diagnostics(err error) diag.List { return model.Diagnostics(err) }

// Version returns the version of ppl, as far as the build knows it.
func Version() string { return model.Version() }
