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

// This file: a run that replaces the one in an output folder. It is made in a folder within
// that one, so that the earlier run stays until the new one has what replaces it. The name of
// the inner folder says how far the replacement is; each renaming is durable before anything
// that depends on it is done, so that a crash at any moment leaves a step to be repeated. The
// output folder is not exchanged for another one: it may be a mount, the working directory
// or have files that are no part of a run.
const (
	newRun   = "new-run.ppl"          // the new run is made; the earlier one is whole
	clearing = "new-run-clearing.ppl" // the new run is complete; files of the earlier one are removed
	moving   = "new-run-moving.ppl"   // the earlier one is gone; files of the new one are moved up
)

// ReplacingError says that a program was stopped, or is, while a complete run replaces the
// one in a folder. [Settle] finishes that.
type ReplacingError struct{ Folder string }

// Error is the message.
func (e *ReplacingError) Error() string {
	return fmt.Sprintf("the run in the folder %s is being replaced by a complete one", e.Folder)
}

// New makes the folder, within an output folder, in which a run is made that is to replace
// the one in the output folder, and removes one that has not become complete. The
// folder must be locked.
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

// Unfinished is the folder of a run that was to replace the one in a folder and has not become
// complete; "" if there is none.
func Unfinished(dir string) string {
	path := filepath.Join(dir, newRun)
	if _, err := os.Lstat(filepath.Join(path, RecordFile)); err != nil {
		return ""
	}
	return path
}

// Final is the output folder of a run that is made in a folder: the folder itself, or the one
// around it if [New] has made it.
func Final(dir string) string {
	if filepath.Base(dir) == newRun {
		return filepath.Dir(dir)
	}
	return dir
}

// FinalFile is where a file will be in the end that is made in a folder of [New], or elsewhere.
func FinalFile(path string) string {
	return filepath.Join(Final(filepath.Dir(path)), filepath.Base(path))
}

// Replace removes the run in a folder and puts the one that was made in the folder of [New] in
// its place, durably. The output folder must be locked.
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

// Settle finishes what [Replace] has begun, if anything. The folder must be locked.
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
	// The record comes last: with it, all of the run is there.
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

// clearFor removes from a folder all of the run but its record, for one that is in another folder.
func clearFor(dir, next string) error {
	old, _ := read(dir)
	if old != nil {
		if err := old.removeFiles(dir); err != nil {
			return err
		}
	} else if r, _ := read(next); r != nil { // draws of other programs, by the same names
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

// moveUp gives a file or folder another name, which may be taken: a file and a store are
// replaced, folders are merged. It returns the folders into which anything was moved, but for
// that of the new name.
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
