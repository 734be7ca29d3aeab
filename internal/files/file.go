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
	at   int64 // position of the next Write
}

// Create makes a new file and opens it for writing and reading. It fails if the path exists, even
// as a link.
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

// Open opens a file for reading.
func Open(path string) (*File, error) { return open(path, os.O_RDONLY) }

// Edit opens an existing file to change it in place.
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

// Device opens a file that is not regular, such as a pipe, for writing.
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

// ReadFile reads a whole file.
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

// Name returns the path with which the file was opened.
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

// Cut truncates the file to size bytes. The next Write appends to these.
func (f *File) Cut(size int64) error {
	err := do(Op{Kind: TruncateOp, Path: f.Name(), File: f, At: size}, func() error { return f.file.Truncate(size) })
	if err == nil {
		_, err = f.file.Seek(size, io.SeekStart)
		f.at = size
	}
	return err
}

// Sync makes the written data durable. [SyncFolder] makes the file's name durable.
func (f *File) Sync() error {
	return do(Op{Kind: SyncOp, Path: f.Name(), File: f}, f.file.Sync)
}

// Close closes the file, even if it returns an error.
func (f *File) Close() error {
	err := do(Op{Kind: CloseOp, Path: f.Name(), File: f}, f.file.Close)
	if err != nil {
		f.file.Close() // in case the call was not made
	}
	return err
}
