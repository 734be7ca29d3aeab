package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/model"
)

// await returns the result of f, or the cause of ctx if that ends first. A read that cannot be
// cancelled, such as from a pipe without a writer, then continues until the program ends.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		func() {
			defer infer.Recover(&o.err)
			o.value, o.err = f()
		}()
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// readData reads a file of data once.
func readData(ctx context.Context, file model.DataFile) (*data.Set, error) {
	return await(ctx, func() (*data.Set, error) { return model.ReadData(file) })
}

// readAgain reads a data file that is read more than once: for the fit, and when its result is
// collected. Pipes and devices are errors, because they can be read only once.
func readAgain(ctx context.Context, file model.DataFile) (*data.Set, error) {
	return await(ctx, func() (*data.Set, error) {
		if info, err := os.Stat(file.Path); err == nil && !info.Mode().IsRegular() {
			kind := "a device"
			switch {
			case info.IsDir():
				kind = "a folder"
			case info.Mode()&os.ModeNamedPipe != 0:
				kind = "a pipe"
			case info.Mode()&os.ModeSocket != 0:
				kind = "a socket"
			}
			return nil, fmt.Errorf("%s is %s, but a study reads its data more than once: write them to a file", file.Path, kind)
		}
		return model.ReadData(file)
	})
}

// maxFiles is the maximum number of names that a pattern may match.
const maxFiles = 1_000_000

// glob finds the names that match a pattern of [filepath.Match], in order. It stops when ctx ends,
// and fails if more than maxFiles names match.
func glob(ctx context.Context, pattern string) ([]string, error) {
	return await(ctx, func() ([]string, error) {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return nil, err
		}
		g := globber{ctx: ctx}
		err := g.find(filepath.Clean(pattern))
		return g.found, err
	})
}

type globber struct {
	ctx   context.Context
	found []string
}

// errTooMany says that a pattern matches too many names.
var errTooMany = errors.New("it matches more than 1,000,000 names")

// hasMeta reports whether a part of a pattern has special characters.
func hasMeta(s string) bool {
	return strings.ContainsAny(s, "*?[") || filepath.Separator == '/' && strings.Contains(s, "\\")
}

// find enters the folders before the first part of the pattern with special characters, and matches
// the names there.
func (g *globber) find(pattern string) error {
	volume := filepath.VolumeName(pattern)
	parts := strings.Split(filepath.ToSlash(pattern[len(volume):]), "/")
	dir := volume
	if parts[0] == "" {
		dir += string(filepath.Separator)
		parts = parts[1:]
	}
	return g.match(dir, parts)
}

func (g *globber) match(dir string, parts []string) error {
	for len(parts) > 0 && !hasMeta(parts[0]) {
		dir = filepath.Join(dir, parts[0])
		parts = parts[1:]
	}
	if g.ctx.Err() != nil {
		return context.Cause(g.ctx)
	}
	if len(parts) == 0 {
		if _, err := os.Lstat(dir); err != nil {
			return nil
		}
		if g.found = append(g.found, dir); len(g.found) > maxFiles {
			return errTooMany
		}
		return nil
	}
	from := dir
	if from == "" {
		from = "."
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil // no readable folder: nothing matches there
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(parts[0], e.Name()); !ok {
			continue
		}
		if err := g.match(filepath.Join(dir, e.Name()), parts[1:]); err != nil {
			return err
		}
	}
	return nil
}
