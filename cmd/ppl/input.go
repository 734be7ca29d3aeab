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
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
)

// input is the options about model and data that the commands share.
type input struct {
	data       string
	compile    ppl.CompileOptions
	noPropto   bool
	noJacobian bool
	seed       uint64
	quiet      bool
	print      func(string) // receives the model's print statements
	without    []string     // passes of the compiler
	stanCompat string       // version of Stan whose transforms are meant
	memory     byteSize     // that binding and an evaluation may take; 0: what is usual
	statements int64        // that binding may run; 0: what is usual
}

// flags declares them.
func (in *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&in.data, "data", "d", "", "`file` of data in Stan's JSON format")
	cmd.Flags().StringVar(&in.stanCompat, "stan-compat", "", "constrain parameters as this `version` of Stan does: 2.32, whose simplexes differ")
	cmd.Flags().Var(&in.memory, "memory", "refuse models and data that ask for more memory than this `size`, such as 500MB or 8GiB\n(default: the variable "+memoryVariable+", else half of what the machine has)")
	cmd.Flags().Int64Var(&in.statements, "statements", 0, "refuse models that run more statements than this `number` before the first evaluation\n(default 1000000000)")
	compileFlags(cmd, &in.compile)
}

// memoryVariable is the environment variable that --memory overrides.
const memoryVariable = "PPL_MEMORY"

// compileFlags declares the options about reading models.
func compileFlags(cmd *cobra.Command, o *ppl.CompileOptions) {
	cmd.Flags().StringArrayVar(&o.IncludePaths, "include-path", nil, "`folder` to search for files of #include, after that of the model; may be repeated")
	cmd.Flags().BoolVar(&o.Legacy, "legacy", false, "read the syntax of older versions of Stan, with warnings")
}

// loaded is a model bound to data, and how long that took.
type loaded struct {
	model     *ppl.Model
	posterior *ppl.Posterior
	compile   time.Duration
	values    *data.Set
	read      time.Duration // of the data
	bind      time.Duration
}

// load compiles the model, reads the data and binds them, unless ctx ends before.
// Warnings are shown on stderr.
func (in *input) load(ctx context.Context, model string, stderr io.Writer) (*loaded, error) {
	l := &loaded{}
	if strings.EqualFold(filepath.Ext(model), ".json") {
		return nil, usagef("%s is a file of data; the model stands first, and the data after --data", model)
	}
	err := timed(&l.compile, func() (err error) {
		l.model, err = ppl.CompileFileContext(ctx, model, in.compile)
		return err
	})
	if err != nil {
		return nil, plainPathError(err)
	}
	if w := l.model.Warnings(); len(w) > 0 && !in.quiet {
		diag.Render(stderr, w, diagOptions(stderr))
	}
	values := data.Empty()
	err = timed(&l.read, func() (err error) {
		if in.data == "" {
			return nil
		}
		if ext := filepath.Ext(in.data); strings.EqualFold(ext, ".csv") {
			return fmt.Errorf("%s: data are read as JSON; files in the format %s are not supported yet", in.data, ext)
		}
		values, err = data.ReadJSON(in.data)
		return err
	})
	if err != nil {
		return nil, err
	}
	l.values = values
	options, err := in.bindOptions()
	if err != nil {
		return nil, err
	}
	err = timed(&l.bind, func() (err error) {
		l.posterior, err = l.model.BindContext(ctx, values, options)
		return err
	})
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

// bindOptions are those that say how the model is bound.
func (in *input) bindOptions() (ppl.BindOptions, error) {
	memory := in.memory
	if text := os.Getenv(memoryVariable); text != "" && memory == 0 {
		if err := memory.Set(text); err != nil {
			return ppl.BindOptions{}, usagef("%s is %q: %v", memoryVariable, text, err)
		}
	}
	if in.statements < 0 {
		return ppl.BindOptions{}, usagef("--statements must be positive, but is %d", in.statements)
	}
	return ppl.BindOptions{
		Memory:     int64(memory),
		Statements: in.statements,
		Seed:       in.seed,
		NoPropto:   in.noPropto,
		NoJacobian: in.noJacobian,
		Print:      in.print,
		Without:    in.without,
		StanCompat: in.stanCompat,
	}, nil
}

// plainPathError says what is wrong with a file without the name of the system
// call.
func plainPathError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: cannot read the model: %w", pe.Path, pe.Err)
	}
	return err
}

func timed(d *time.Duration, f func() error) error {
	start := time.Now()
	err := f()
	*d += time.Since(start)
	return err
}

// loadAt loads a model and reads the points that its command is about. What the
// program prints goes to stderr, beside what is told.
func (in *input) loadAt(model, points string, stderr io.Writer) (*loaded, [][]float64, error) {
	if points == "" {
		return nil, nil, usagef("--points is missing: a file with the points, such as {\"points\": [[0.1, -0.5]]}")
	}
	in.print = func(s string) { fmt.Fprintln(stderr, s) }
	l, err := in.load(context.Background(), model, stderr)
	if err != nil {
		return nil, nil, err
	}
	xs, err := readPoints(points, l.posterior.Dim())
	return l, xs, err
}

// readPoints reads {"points": [[…], …]}: unconstrained points.
func readPoints(path string, dim int) ([][]float64, error) {
	set, err := data.ReadJSON(path)
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
