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

// Temp is a file that is written under a random name in its final folder, until [Temp.Commit] or
// [Commit] gives it its final name.
type Temp struct {
	*File
	path string
	temp string

	closed bool
	done   bool // renamed or removed
}

// The names of temporary files: NAME.RANDOM.tmp.
const (
	tempSuffix = ".tmp"
	tempRandom = 8 // bytes
)

// CreateTemp starts a file that will replace the one at path.
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

// IsTemp reports whether name may be a temporary name of the file called of.
func IsTemp(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of+".")
	rest, suffix := strings.CutSuffix(rest, tempSuffix)
	_, err := hex.DecodeString(rest)
	return ok && suffix && err == nil && len(rest) == 2*tempRandom
}

// Commit makes the file durable under its final name. After an error the old file is still there;
// then call [Temp.Abandon], or [Temp.Keep] to keep the new one.
func (t *Temp) Commit() error { return Commit(t) }

// Commit is [Temp.Commit] for several files, with one sync of each folder. Each file is replaced
// atomically, but after an error only some may be replaced.
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

// place gives the file its final name without a sync.
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

// Keep gives the file its final name although it may not be durable, which the error then says. Use
// it for data that cannot be made again.
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

// Rename renames a file, and replaces an existing one. It is durable once the folder is synced.
// Windows refuses it while another process reads the file, such as a report of a running run or a
// virus scanner. Rename then retries for a second.
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

// Replace durably replaces the contents of a file by a text, or makes the file.
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

// ReplaceBy is [Replace] with the text that write writes, and returns its [Digest]. If write fails,
// the file is unchanged.
func ReplaceBy(path string, write func(io.Writer) error) (digest string, err error) {
	t, digest, err := TempBy(path, write)
	if err != nil {
		return "", err
	}
	defer t.Abandon()
	return digest, t.Commit()
}

// TempBy writes the text from write to a temporary file, which the caller commits, and returns its
// [Digest]. After an error there is no file.
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

// ReplaceMode is [Replace] with the given permissions.
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

// Swap is [Replace] without syncs, so a power failure may leave an empty file. Use it for files
// that are synced later, or that may be lost.
func Swap(path string, text []byte) error {
	t, _, err := TempBy(path, writeText(text))
	if err != nil {
		return err
	}
	defer t.Abandon()
	return t.place()
}

// Save writes a file with a name that the user gave. It is like [Replace], but writes to devices
// and pipes directly.
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
