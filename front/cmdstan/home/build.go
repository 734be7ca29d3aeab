package home

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/executable"
	"github.com/ppl-lang/ppl/front/cmdstan/stan"
	"github.com/ppl-lang/ppl/front/cmdstan/stanc"
	durable "github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// Options are the options of [Build].
type Options struct {
	Name     string          // name of the model; "": the file's name with _model
	File     string          // name of the model's file in messages; "": its path
	Flags    map[string]bool // switches that the command info prints
	Stanc    []string        // options of stanc, for file headers
	Compiled *model.Model

	// Standalone makes a copy of this program that contains the model. Without it, the executable
	// is a script, on systems that have scripts.
	Standalone bool
}

// Build makes the executable of a model. ppl is the path of this program.
func Build(output, program string, o Options) error {
	p := &executable.Program{
		Name: o.Name, File: o.File, Text: o.Compiled.Text(), Included: o.Compiled.Included(),
		Flags: o.Flags, StancFlags: strings.Join(o.Stanc, " "),
	}
	text := []byte(script(program, exeWord, ownName))
	if o.Standalone || runtime.GOOS == "windows" {
		if runtime.GOOS == "darwin" {
			return fmt.Errorf("a model cannot be put into a copy of this program on macOS, whose signature would break; leave out --standalone")
		}
		own, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		text = withoutProgram(own)
	}
	text, err := p.Append(text)
	if err != nil {
		return err
	}
	if err := durable.MakeFolder(filepath.Dir(output)); err != nil {
		return err
	}
	return writeExecutable(output, text)
}

// withoutProgram returns the bytes of this program without the model that it contains, if any.
func withoutProgram(file []byte) []byte {
	if len(file) < executable.TrailerLength {
		return file
	}
	at := len(file) - executable.TrailerLength
	if n := executable.ProgramLength(file[at:]); n > 0 && n <= at {
		return slices.Clip(file[:at-n])
	}
	return file
}

// executableOption is an option that only ppl's stanc has: the path of the executable to make.
const executableOption = "--o-executable="

// buildTool runs stanc with executableOption. Its arguments may include build flags, as NAME=VALUE.
func (d *dispatcher) buildTool(ctx context.Context, args []string) int {
	var stancArgs []string
	flags := map[string]bool{}
	output := ""
	for _, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		if path, ok := strings.CutPrefix(arg, executableOption); ok {
			output = path
			continue
		}
		switch {
		case assigned && slices.Contains(stan.Flags, name):
			flags[name] = value != ""
		case assigned && name == "USER_HEADER":
			if value != "" {
				fmt.Fprintln(d.Err, "Error: models with functions in C++ (USER_HEADER) cannot be built: there is no C++ here. Write the function in the model's functions block.")
				return 1
			}
		default:
			stancArgs = append(stancArgs, arg)
		}
	}
	o, model, code := stanc.Compile(ctx, stancArgs, d.Out, d.Err)
	if model == nil {
		return code
	}
	for _, flag := range []string{"STAN_OPENCL", "STAN_MPI"} {
		if flags[flag] {
			fmt.Fprintf(d.Err, "Error: %s is not supported: there is no OpenCL and no MPI here.\n", flag)
			return 1
		}
	}
	err := Build(output, d.program, Options{Name: o.ModelName(), File: o.FileName(), Flags: flags, Stanc: o.Words(), Compiled: model})
	if err != nil {
		fmt.Fprintln(d.Err, "Error:", err)
		return 1
	}
	return 0
}
