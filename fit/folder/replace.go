package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/internal/files"
)

// This file replaces the run in an output folder by a new one. The new run is made in an inner
// folder, so that the earlier run stays until the new one is complete. The name of the inner folder
// says how far the replacement has come. Each renaming is durable before the next step begins, so
// that steps can be repeated after a crash. The output folder itself is never replaced: it may be a
// mount or the working directory, or contain other files.
const (
	newRun   = "new-run.ppl"          // the new run is in work; the earlier one is complete
	clearing = "new-run-clearing.ppl" // the new run is complete; the earlier one is being removed
	moving   = "new-run-moving.ppl"   // the earlier run is removed; the new one is being moved up
)

// ReplacingError says that a complete run is replacing the one in a folder, or that a program was
// stopped in the middle of that. [Settle] finishes the replacement.
type ReplacingError struct{ Folder string }

// Error returns the message.
func (e *ReplacingError) Error() string {
	return fmt.Sprintf("the run in the folder %s is being replaced by a complete one", e.Folder)
}

// New makes the inner folder for a run that will replace the one in an output folder. It removes an
// incomplete earlier replacement. The output folder must be locked.
func New(dir string) (string, error) {
	for _, name := range []string{textFolder, TableFolder} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return "", &fs.PathError{Op: "replace the run", Path: filepath.Join(dir, name), Err: errors.New("this is not a folder")}
		}
	}
	path := filepath.Join(dir, newRun)
	if err := files.RemoveAll(path); err != nil {
		return "", err
	}
	return path, files.MakeFolder(path)
}

// Unfinished returns the inner folder of an incomplete replacement; "" if there is none.
func Unfinished(dir string) string {
	path := filepath.Join(dir, newRun)
	if _, err := os.Lstat(filepath.Join(path, RecordFile)); err != nil {
		return ""
	}
	return path
}

// Final returns the output folder of a run made in dir: its parent if [New] made dir, else dir
// itself.
func Final(dir string) string {
	if filepath.Base(dir) == newRun {
		return filepath.Dir(dir)
	}
	return dir
}

// FinalFile returns the final path of a file that is made in a folder of [New] or elsewhere.
func FinalFile(path string) string {
	return filepath.Join(Final(filepath.Dir(path)), filepath.Base(path))
}

// Replace durably replaces the run in a folder by the one made in the folder of [New]. The output
// folder must be locked.
func Replace(dir string) error {
	if err := step(dir, newRun, clearing); err != nil {
		return err
	}
	return Settle(dir)
}

// step renames an inner folder, durably.
func step(dir, from, to string) error {
	if err := files.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		return err
	}
	return files.SyncFolder(dir)
}

// Settle finishes a replacement that [Replace] began, if there is one. The folder must be locked.
func Settle(dir string) error {
	if is(dir, clearing) {
		if err := clearFor(dir, filepath.Join(dir, clearing)); err != nil {
			return err
		}
		if err := step(dir, clearing, moving); err != nil {
			return err
		}
	}
	if !is(dir, moving) {
		return nil
	}
	inner := filepath.Join(dir, moving)
	entries, err := files.ReadFolder(inner)
	if err != nil {
		return err
	}
	changed := []string{dir}
	for _, e := range entries {
		if e.Name() == RecordFile {
			continue
		}
		into, err := moveUp(filepath.Join(inner, e.Name()), filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		changed = append(changed, into...)
	}
	for _, path := range changed {
		if err := files.SyncFolder(path); err != nil {
			return err
		}
	}
	// The record comes last: if it is there, the run is complete.
	if err := files.Rename(filepath.Join(inner, RecordFile), filepath.Join(dir, RecordFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := files.SyncFolder(dir); err != nil {
		return err
	}
	if err := files.RemoveAll(inner); err != nil {
		return err
	}
	return files.SyncFolder(dir)
}

func is(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && info.IsDir()
}

// clearFor removes all files of the earlier run except its record, to make room for the run in the
// folder next.
func clearFor(dir, next string) error {
	old, _ := read(dir)
	if old != nil {
		if err := old.removeFiles(dir); err != nil {
			return err
		}
	} else if r, _ := read(next); r != nil { // the folder has draws of another program, with the names of the new run's files
		entries, err := files.ReadFolder(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if r.ofChain(e.Name()) && strings.HasSuffix(e.Name(), ".csv") && e.Type().IsRegular() {
				if err := files.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return files.SyncFolder(dir)
}

// moveUp renames a file or folder. It replaces an existing file or store of that name, and merges
// folders. It returns the folders whose contents changed, except the parent of the new name.
func moveUp(from, to string) (changed []string, err error) {
	old, err := os.Lstat(to)
	if err != nil || !old.IsDir() {
		return nil, files.Rename(from, to)
	}
	if zarr.Is(to) {
		if err := files.RemoveAll(to); err != nil {
			return nil, err
		}
		return nil, files.Rename(from, to)
	}
	entries, err := files.ReadFolder(from)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		inner, err := moveUp(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if err != nil {
			return nil, err
		}
		changed = append(changed, inner...)
	}
	return append(changed, to), nil
}
