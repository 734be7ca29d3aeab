package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// MakeFolder durably makes a folder and its parents. It is no error if the folder exists.
func MakeFolder(path string) error {
	made, err := makeFolders(path)
	for _, dir := range made {
		if err == nil {
			err = SyncFolder(filepath.Dir(dir))
		}
	}
	return err
}

// MakeFolders is [MakeFolder] without syncs, for folders that [SyncAll] makes durable.
func MakeFolders(path string) error {
	_, err := makeFolders(path)
	return err
}

// makeFolders makes a folder and its parents, and returns the ones that it made.
func makeFolders(path string) (made []string, err error) {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return nil, &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil, nil
	}
	if parent := filepath.Dir(path); parent != path {
		if made, err = makeFolders(parent); err != nil {
			return made, err
		}
	}
	err = do(Op{Kind: MkdirOp, Path: path}, func() error { return os.Mkdir(path, 0o777) })
	if err == nil {
		return append(made, path), nil
	}
	if info, e := os.Stat(path); e == nil && info.IsDir() && errors.Is(err, fs.ErrExist) {
		return made, nil // by another process meanwhile
	}
	return made, err
}

// SyncFolder makes the names in a folder durable. It does nothing on systems that cannot do that.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "plan9" {
		return nil
	}
	return do(Op{Kind: FolderOp, Path: path}, func() error {
		dir, err := os.Open(path)
		if err != nil {
			return err
		}
		err = dir.Sync()
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
			err = nil // not supported by this file system
		}
		return errors.Join(err, dir.Close())
	})
}

// RemoveIn is [Remove] within a root folder, which links cannot leave.
func RemoveIn(root *os.Root, name string) error {
	return do(Op{Kind: RemoveOp, Path: filepath.Join(root.Name(), name)}, func() error { return root.Remove(name) })
}

// RemoveAll removes a file, or a folder with its contents, if it exists. Links are removed, not
// followed.
func RemoveAll(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		entries, err := ReadFolder(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := RemoveAll(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SyncAll makes a folder and everything in it durable: by one call if the system can sync a whole
// file system, which is faster than one call per file; otherwise file by file.
func SyncAll(path string) error {
	done := false
	err := do(Op{Kind: SyncAllOp, Path: path}, func() (err error) {
		done, err = syncFileSystem(path)
		return err
	})
	if err != nil || done {
		return err
	}
	return syncTree(path)
}

// syncTree syncs a folder with all files and folders in it.
func syncTree(path string) error {
	entries, err := ReadFolder(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		inner := filepath.Join(path, e.Name())
		switch {
		case e.IsDir():
			err = syncTree(inner)
		case e.Type().IsRegular():
			var f *File
			if f, err = Edit(inner); err == nil {
				err = errors.Join(f.Sync(), f.Close())
			}
		}
		if err != nil {
			return err
		}
	}
	return SyncFolder(path)
}

// Move durably renames a folder within its parent folder, and replaces a folder of the new name. If
// the system can exchange two names, there is a complete folder of the new name at every moment.
func Move(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		if err := Rename(from, to); err != nil {
			return err
		}
		return SyncFolder(filepath.Dir(to))
	}
	exchanged := false
	err := do(Op{Kind: ExchangeOp, Path: from, To: to}, func() (err error) {
		exchanged, err = exchange(from, to)
		return err
	})
	if err != nil {
		return err
	}
	aside := from
	if !exchanged {
		aside = tempName(to)
		if err := Rename(to, aside); err != nil {
			return err
		}
		if err := Rename(from, to); err != nil {
			return errors.Join(err, Rename(aside, to))
		}
	}
	if err := SyncFolder(filepath.Dir(to)); err != nil {
		return err
	}
	return RemoveAll(aside)
}

// RemoveTemps removes temporary files that killed processes have left in a folder, for the names
// that of accepts. No other process may be writing them.
func RemoveTemps(dir string, of func(name string) bool) error {
	entries, err := ReadFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		base := len(name) - len(tempSuffix) - 2*tempRandom - 1
		if base <= 0 || !IsTemp(name, name[:base]) || !of(name[:base]) {
			continue
		}
		errs = append(errs, RemoveAll(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}

// forgotten is the age after which a temporary folder counts as left behind by a killed process, if
// nothing shows that a process is still writing it.
const forgotten = time.Hour

// forget removes old temporary files and folders of a path, which killed processes left.
func forget(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // writing there will report it
	}
	for _, e := range entries {
		if !IsTemp(e.Name(), filepath.Base(path)) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > forgotten {
			RemoveAll(filepath.Join(dir, e.Name())) // if it fails, the next call tries again
		}
	}
}

// TempFolder makes a folder that will be moved to path, under a random name in the same parent
// folder. It removes old ones that killed processes left behind.
func TempFolder(path string) (string, error) {
	forget(path)
	if err := MakeFolder(filepath.Dir(path)); err != nil {
		return "", err
	}
	temp := tempName(path)
	return temp, do(Op{Kind: MkdirOp, Path: temp}, func() error { return os.Mkdir(temp, 0o777) })
}
