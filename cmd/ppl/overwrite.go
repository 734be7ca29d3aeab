package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
)

// This file handles runs that replace an existing run in the output folder.

// makeRoom returns the folder for a new run. out is the output folder, which the caller has locked.
// makeRoom returns a subfolder of it if --overwrite is given and out has a run or draws of that
// name, otherwise out itself.
func makeRoom(out, name string, overwrite bool) (string, error) {
	if folder.Final(out) != out {
		return "", fmt.Errorf("the folder %s is one of those in which a run is made that replaces another one. Choose another folder by --out, or go on with the run in it by: ppl run --resume %s", out, out)
	}
	if err := folder.Settle(out); err != nil {
		return "", cannotReplace(err)
	}
	taken, err := taken(out, name)
	switch {
	case err != nil && !overwrite:
		return "", err
	case taken:
		in, err := folder.New(out)
		if err != nil {
			return "", cannotReplace(err)
		}
		return in, nil
	}
	return out, nil
}

func cannotReplace(err error) error {
	return fmt.Errorf("cannot replace the earlier run: %w; choose another folder by --out", err)
}

// taken reports whether a folder has a run, or draws of that name, and describes it.
func taken(out, name string) (bool, error) {
	old, err := folder.Read(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The folder has no run of ppl, but it may have files of draws with the same names.
		found, _ := filepath.Glob(filepath.Join(escapedGlob(out), escapedGlob(name)+"_[0-9]*.csv"))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
				continue // the error will be reported when the file is written
			}
			return true, fmt.Errorf("the folder %s holds draws already: %s. Choose another folder by --out, or replace them by --overwrite", out, path)
		}
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		return true, fmt.Errorf("cannot look into the folder %s: permission denied. Choose another one by --out", out)
	case err == nil && old.Complete:
		return true, fmt.Errorf("the folder %s holds a run already. Choose another folder by --out, or replace the run by --overwrite", out)
	}
	what := "holds a run that is not complete"
	if err != nil {
		what = fmt.Sprintf("holds a run that cannot be read (%v)", err)
	}
	return true, fmt.Errorf("the folder %s %s. Go on with it by: ppl run --resume %s\nOr choose another folder by --out, or replace it by --overwrite", out, what, out)
}

// becomeFinal replaces the run in the folder o.final by the run in o.out.
func (o *running) becomeFinal(f *fit.Fit) error {
	if err := folder.Replace(o.final); err != nil {
		in := o.out
		if errors.As(folderError(o.final), new(*folder.ReplacingError)) {
			in = o.final
		}
		return fmt.Errorf("the run cannot replace the one in %s: %w\nWhen that is fixed, finish by: ppl run --resume %s", o.final, err, in)
	}
	for _, paths := range [][]string{f.Files, f.Tables} {
		for i, path := range paths {
			if rest, err := filepath.Rel(o.out, path); err == nil {
				paths[i] = filepath.Join(o.final, rest)
			}
		}
	}
	o.out = o.final
	return nil
}

func folderError(dir string) error {
	_, err := folder.Read(dir)
	return err
}

// settled reads the record of the run to resume. It first completes an unfinished replacement.
func settled(dir string) (*folder.Record, error) {
	m, err := folder.Read(dir)
	if !errors.As(err, new(*folder.ReplacingError)) {
		return m, err
	}
	release, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := folder.Settle(dir); err != nil {
		return nil, fmt.Errorf("cannot replace the earlier run: %w", err)
	}
	return folder.Read(dir)
}

// tidy removes what a killed process has left in the folder of a complete run. If this run was to
// replace another, tidy completes the replacement.
func tidy(m *folder.Record, dir string, stderr io.Writer) error {
	final := folder.Final(dir)
	release, err := lockFolder(final)
	if err != nil {
		return nil // another process does it
	}
	defer release()
	if err := m.Tidy(dir); err != nil {
		return fmt.Errorf("--resume %s: the run is complete, but what it was resumed from cannot be removed: %w", dir, err)
	}
	if final == dir {
		printMessage(stderr, "The run in %s is complete: there is nothing to go on with.", dir)
		if other := folder.Unfinished(dir); other != "" {
			printMessage(stderr, "A run that was to replace it is not complete. Go on with it by: ppl run --resume %s", other)
		}
		return nil
	}
	if err := folder.Replace(final); err != nil {
		return fmt.Errorf("--resume %s: the run is complete, but cannot replace the one in %s: %w", dir, final, err)
	}
	printMessage(stderr, "The run is complete: it has replaced the one in %s.", final)
	return nil
}

// replaceFiles returns an error if a folder has files that match a pattern, unless they may be
// overwritten. The caller calls the returned function when the new files are complete; it removes
// the old files that are not in written.
func replaceFiles(out, pattern string, overwrite bool) (old func(written []string) error, err error) {
	if err := files.MakeFolder(out); err != nil {
		return nil, fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
	}
	found, _ := filepath.Glob(filepath.Join(escapedGlob(out), pattern))
	if len(found) > 0 && !overwrite {
		return nil, fmt.Errorf("%s is there already. Choose another folder by --out, or replace it by --overwrite", found[0])
	}
	return func(written []string) error {
		kept := map[string]bool{}
		for _, path := range written {
			kept[filepath.Base(path)] = true
		}
		for _, path := range found {
			if kept[filepath.Base(path)] {
				continue
			}
			if err := files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("cannot remove earlier files: %w", err)
			}
		}
		return nil
	}, nil
}
