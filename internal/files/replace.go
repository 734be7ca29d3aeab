package files

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Temp is a file that is written under a random name in the folder of its place, until
// [Temp.Commit] or [Commit] puts it there.
type Temp struct {
	*File
	path string
	temp string

	closed bool
	done   bool // in its place, or removed
}

// The names of temporary files: NAME.RANDOM.tmp.
const (
	tempSuffix = ".tmp"
	tempRandom = 8 // bytes
)

// CreateTemp starts a file that is to replace the one at path.
func CreateTemp(path string) (*Temp, error) {
	temp := tempName(path)
	f, err := Create(temp)
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, path: path, temp: temp}, nil
}

func tempName(path string) string {
	var random [tempRandom]byte
	rand.Read(random[:])
	return path + "." + hex.EncodeToString(random[:]) + tempSuffix
}

// IsTemp reports whether a file may be a temporary one of the file of a name.
func IsTemp(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of+".")
	rest, suffix := strings.CutSuffix(rest, tempSuffix)
	_, err := hex.DecodeString(rest)
	return ok && suffix && err == nil && len(rest) == 2*tempRandom
}

// Commit makes the file durable in its place. After an error the file that was there before is
// still there, and the caller abandons the temporary one, or keeps it by [Temp.Keep].
func (t *Temp) Commit() error { return Commit(t) }

// Commit is [Temp.Commit] of several files with one sync of each folder. Each of them is
// replaced as a whole, but after an error some may be and others not.
func Commit(temps ...*Temp) error {
	for _, t := range temps {
		if err := t.Sync(); err != nil {
			return err
		}
	}
	var folders []string
	for _, t := range temps {
		if err := t.place(); err != nil {
			return err
		}
		if dir := filepath.Dir(t.path); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, dir := range folders {
		if err := SyncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// place puts the file in its place without a sync.
func (t *Temp) place() error {
	if err := t.close(); err != nil {
		return err
	}
	if err := Rename(t.temp, t.path); err != nil {
		return err
	}
	t.done = true
	return nil
}

func (t *Temp) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.File.Close()
}

// Keep puts the file in its place although it may not be durable, which the error says: for
// what cannot be made again.
func (t *Temp) Keep() error {
	if t.done {
		return nil
	}
	var err error
	if !t.closed {
		err = errors.Join(t.Sync(), t.close())
	}
	if placed := t.place(); placed != nil {
		return errors.Join(err, placed)
	}
	return errors.Join(err, SyncFolder(filepath.Dir(t.path)))
}

// Abandon removes the file. It does nothing after Commit or Keep.
func (t *Temp) Abandon() error {
	if t == nil || t.done {
		return nil
	}
	t.done = true
	return errors.Join(t.close(), Remove(t.temp))
}

// Rename gives a file the name of another, which it replaces. It is durable when the folder
// is synced. On Windows that is refused while another process looks at the file, such as a
// report of a run that goes on or a program that searches for viruses; it is tried again for
// a second.
func Rename(from, to string) error {
	return do(Op{Kind: RenameOp, Path: from, To: to}, func() error {
		err := os.Rename(from, to)
		for try := 0; err != nil && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrNotExist) && try < 100; try++ {
			time.Sleep(10 * time.Millisecond)
			err = os.Rename(from, to)
		}
		return err
	})
}

// Remove removes a file or an empty folder.
func Remove(path string) error {
	return do(Op{Kind: RemoveOp, Path: path}, func() error { return os.Remove(path) })
}

// Replace puts a file with a text in the place of another, durably.
func Replace(path string, text []byte) error {
	_, err := ReplaceBy(path, writeText(text))
	return err
}

func writeText(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// ReplaceBy is [Replace] with the text from write, and returns its [Digest]. An error of write
// leaves the file as it was.
func ReplaceBy(path string, write func(io.Writer) error) (digest string, err error) {
	t, digest, err := TempBy(path, write)
	if err != nil {
		return "", err
	}
	defer t.Abandon()
	return digest, t.Commit()
}

// TempBy writes the text from write to a temporary file, to be committed, and returns the [Digest].
// After an error there is no file.
func TempBy(path string, write func(io.Writer) error) (t *Temp, digest string, err error) {
	if t, err = CreateTemp(path); err != nil {
		return nil, "", err
	}
	h := sha256.New()
	if err := write(io.MultiWriter(t, h)); err != nil {
		t.Abandon()
		return nil, "", err
	}
	return t, hex.EncodeToString(h.Sum(nil)), nil
}

// ReplaceExecutable is [Replace] for a program; a running one keeps its old file.
func ReplaceExecutable(path string, text []byte) error { return ReplaceMode(path, text, 0o755) }

// ReplaceMode is [Replace] with a file that has these permissions.
func ReplaceMode(path string, text []byte, mode fs.FileMode) error {
	t, _, err := TempBy(path, writeText(text))
	if err != nil {
		return err
	}
	defer t.Abandon()
	if err := t.file.Chmod(mode); err != nil {
		return err
	}
	return t.Commit()
}

// Swap is [Replace] without syncs: a loss of power may leave an empty file. It is for files
// that are made durable later, or that may be lost.
func Swap(path string, text []byte) error {
	t, _, err := TempBy(path, writeText(text))
	if err != nil {
		return err
	}
	defer t.Abandon()
	return t.place()
}

// Save writes a file under a name that the user gave: like [Replace], but it writes to devices and
// pipes directly.
func Save(path string, text []byte) error { return SaveBy(path, writeText(text)) }

// SaveBy is [Save] with the text that write writes.
func SaveBy(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		forget(path)
		_, err := ReplaceBy(path, write)
		return err
	}
	f, err := Device(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
