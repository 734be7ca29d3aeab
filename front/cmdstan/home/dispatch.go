package home

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/front/cmdstan/executable"
	"github.com/ppl-lang/ppl/front/cmdstan/stanc"
	"github.com/ppl-lang/ppl/front/cmdstan/tools"
)

// The first word after ppl in the command lines of this package's scripts.
const (
	exeWord  = "cmdstan-exe"  // followed by the file of an executable and its arguments
	toolWord = "cmdstan-tool" // followed by the name of a tool and its arguments
)

// dispatcher runs command lines.
type dispatcher struct {
	executable.Streams
	program string // this program's path
}

// Dispatch runs the command line of a model's executable or of a tool, and returns its exit code.
// If it is neither, ok is false. args begins with the name by which this program was called.
func Dispatch(ctx context.Context, args []string, s executable.Streams) (code int, ok bool) {
	d := &dispatcher{Streams: s}
	d.program, _ = os.Executable()
	if p, err := carried(d.program); p != nil || err != nil {
		return d.run(ctx, args[0], p, err, args[1:]), true
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if name == "mingw32-make" {
		name = "make"
	}
	if tool, known := d.tool(name); known {
		return tool(ctx, args[1:]), true
	}
	if len(args) < 3 {
		return 0, false
	}
	switch args[1] {
	case exeWord:
		p, err := carried(args[2])
		if p == nil && err == nil {
			err = fmt.Errorf("%s holds no model", args[2])
		}
		return d.run(ctx, args[2], p, err, args[3:]), true
	case toolWord:
		tool, known := d.tool(args[2])
		if !known {
			fmt.Fprintf(s.Err, "there is no tool %s\n", args[2])
			return 1, true
		}
		return tool(ctx, args[3:]), true
	}
	return 0, false
}

// tool finds a tool by its name.
func (d *dispatcher) tool(name string) (run func(context.Context, []string) int, ok bool) {
	// of returns the function that runs a tool that reads draws.
	of := func(tool func(context.Context, []string, int64, io.Writer, io.Writer) int) (func(context.Context, []string) int, bool) {
		return func(ctx context.Context, args []string) int {
			memory, err := d.Limit()
			if err != nil {
				fmt.Fprintln(d.Err, err)
				return 1
			}
			return tool(ctx, args, memory, d.Out, d.Err)
		}, true
	}
	switch name {
	case "stanc":
		return func(ctx context.Context, args []string) int {
			if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, executableOption) }) {
				return d.buildTool(ctx, args)
			}
			return stanc.Run(ctx, args, d.Out, d.Err)
		}, true
	case "stansummary":
		return of(tools.Summary)
	case "diagnose":
		return of(tools.Diagnose)
	case "print":
		return of(tools.Print)
	case "make":
		return d.make, true
	}
	return nil, false
}

func (d *dispatcher) run(ctx context.Context, name string, p *executable.Program, err error, args []string) int {
	if err != nil {
		fmt.Fprintln(d.Err, err)
		return 1
	}
	return executable.Run(ctx, name, p, args, d.Streams)
}

// carried reads the model that a file contains. It returns nil if there is none.
func carried(path string) (*executable.Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil // for instance, this program on a system that does not report its path
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size < executable.TrailerLength {
		return nil, nil
	}
	trailer := make([]byte, executable.TrailerLength)
	if _, err := f.ReadAt(trailer, size-executable.TrailerLength); err != nil {
		return nil, nil
	}
	n := int64(executable.ProgramLength(trailer))
	if n == 0 || n > size-executable.TrailerLength {
		return nil, nil
	}
	text := make([]byte, n)
	if _, err := f.ReadAt(text, size-executable.TrailerLength-n); err != nil {
		return nil, err
	}
	return executable.ParseProgram(text)
}
