package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is an open file.
type File struct {
	file *os.File
	at   int64 // where the next Write goes
}

// Create makes a file that does not exist and opens it to be written and read. What is at the
// path already, a link too, is an error.
func Create(path string) (*File, error) {
	f := &File{}
	err := do(Op{Kind: CreateOp, Path: path, File: f}, func() (err error) {
		f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o666)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open opens a file to be read.
func Open(path string) (*File, error) { return open(path, os.O_RDONLY) }

// Edit opens an existing file to be changed in its place.
func Edit(path string) (*File, error) { return open(path, os.O_RDWR) }

// Append opens a file to change it in place, and makes it, durably, if it does not exist. Writes go
// to its beginning, see [File.Cut].
func Append(path string) (*File, error) {
	f, err := Edit(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f, err = Create(path); err != nil {
		return nil, err
	}
	if err := SyncFolder(filepath.Dir(path)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Device opens what is no regular file, such as a pipe, to be written to.
func Device(path string) (*File, error) { return open(path, os.O_WRONLY) }

func open(path string, flags int) (*File, error) {
	f := &File{}
	err := do(Op{Kind: OpenOp, Path: path, File: f}, func() (err error) {
		f.file, err = os.OpenFile(path, flags, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file as a whole.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ReadFolder lists a folder.
func ReadFolder(path string) (entries []fs.DirEntry, err error) {
	err = do(Op{Kind: ListOp, Path: path}, func() (err error) {
		entries, err = os.ReadDir(path)
		return err
	})
	return entries, err
}

// Name is the path that the file was opened by.
func (f *File) Name() string { return f.file.Name() }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Read implements [io.Reader].
func (f *File) Read(p []byte) (n int, err error) {
	err = do(Op{Kind: ReadOp, Path: f.Name(), File: f}, func() (err error) {
		n, err = f.file.Read(p)
		return err
	})
	f.at += int64(n)
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, at int64) (n int, err error) {
	err = do(Op{Kind: ReadOp, Path: f.Name(), File: f}, func() (err error) {
		n, err = f.file.ReadAt(p, at)
		return err
	})
	return n, err
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (n int, err error) {
	err = do(Op{Kind: WriteOp, Path: f.Name(), File: f, Data: p, At: f.at}, func() (err error) {
		n, err = f.file.Write(p)
		return err
	})
	f.at += int64(n)
	return n, err
}

// WriteAt implements [io.WriterAt].
func (f *File) WriteAt(p []byte, at int64) (n int, err error) {
	err = do(Op{Kind: WriteOp, Path: f.Name(), File: f, Data: p, At: at}, func() (err error) {
		n, err = f.file.WriteAt(p, at)
		return err
	})
	return n, err
}

// Cut truncates the file to so many bytes, after which the next Write goes.
func (f *File) Cut(size int64) error {
	err := do(Op{Kind: TruncateOp, Path: f.Name(), File: f, At: size}, func() error { return f.file.Truncate(size) })
	if err == nil {
		_, err = f.file.Seek(size, io.SeekStart)
		f.at = size
	}
	return err
}

// Sync makes what was written durable. Its name is so by [SyncFolder].
func (f *File) Sync() error {
	return do(Op{Kind: SyncOp, Path: f.Name(), File: f}, f.file.Sync)
}

// Close closes the file. It is closed after an error, too.
func (f *File) Close() error {
	err := do(Op{Kind: CloseOp, Path: f.Name(), File: f}, f.file.Close)
	if err != nil {
		f.file.Close() // where the call was not made
	}
	return err
}
