package fit

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
)

// This file writes and reads fits as a single file, and reads fits from any file system.

// WriteTo writes the fit as one file, for a blob or a column of a database: a zip archive of the
// folder that [Fit.Save] makes. It implements [io.WriterTo]. The folder is made temporarily in the
// system's temporary folder. [ReadArchive] reads the fit.
func (f *Fit) WriteTo(w io.Writer) (int64, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	if w == nil {
		return 0, errors.New("ppl: there is no writer")
	}
	dir, err := os.MkdirTemp("", "ppl-fit-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	packed := f.shallow()
	packed.packed = true
	if err := packed.Save(dir); err != nil {
		return 0, err
	}
	counted := &counter{Writer: w}
	z := zip.NewWriter(counted)
	if err := addFiles(z, os.DirFS(dir)); err != nil {
		return counted.n, err
	}
	return counted.n, z.Close()
}

// addFiles adds the files of a folder. AddFS would add their times, so that two archives of a fit
// would differ.
func addFiles(z *zip.Writer, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		in, err := from.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		return errors.Join(err, in.Close())
	})
}

// shallow returns a copy of the fit that shares its draws but not its Files.
func (f *Fit) shallow() *Fit {
	return &Fit{Draws: f.Draws, Report: f.Report, FromPrior: f.FromPrior, posterior: f.posterior, dir: f.dir, record: f.record, source: f.source,
		values: f.values, read: f.read, head: f.head, config: f.config, sigFigs: f.sigFigs, rounded: f.rounded, started: f.started, density: f.density}
}

// counter counts the bytes written.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadArchive reads a fit that [Fit.WriteTo] wrote, from size bytes of a file or a bytes.Reader.
func ReadArchive(r io.ReaderAt, size int64) (*Fit, error) { return ReadOptions{}.Archive(r, size) }

// Archive is [ReadArchive] within the limits of o.
func (o ReadOptions) Archive(r io.ReaderAt, size int64) (*Fit, error) {
	if r == nil {
		return nil, errors.New("ppl: there is no reader")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read a fit: this is no archive of one: %w", err)
	}
	return o.FS(z)
}

// ReadFS reads a fit from a file system with the files that [Fit.Save] makes, such as an embed.FS
// or the result of [fs.Sub]. It copies them to a temporary folder, which it removes after reading.
// It reads nothing outside the file system.
func ReadFS(files fs.FS) (*Fit, error) { return ReadOptions{}.FS(files) }

// FS is [ReadFS] within the limits of o. The total size of the files may be eight times the memory
// limit for draws.
func (o ReadOptions) FS(files fs.FS) (*Fit, error) {
	if files == nil {
		return nil, errors.New("ppl: there is no file system")
	}
	dir, err := os.MkdirTemp("", "ppl-fit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	memory := compile.MemoryOr(o.Memory)
	if err := copyFiles(dir, files, 8*memory); err != nil {
		return nil, fmt.Errorf("cannot read a fit: %w", err)
	}
	f, err := o.Fit(dir)
	if err != nil {
		return nil, err
	}
	if len(f.record.Texts) == 0 || f.record.DataFile == "" && f.record.Data != "" {
		return nil, errors.New("cannot read a fit: the files do not have its model and data, but name others")
	}
	if f.source, err = f.record.ReadModel(dir); err != nil {
		return nil, err
	}
	if f.values, err = f.record.ReadData(dir, data.Options{Limit: memory, Memory: memory}); err != nil {
		return nil, err
	}
	f.dir, f.Files, f.Tables = "", nil, nil
	return f, nil
}

// copyFiles copies the regular files of a file system, up to a total of left bytes.
func copyFiles(dir string, from fs.FS, left int64) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case !filepath.IsLocal(filepath.FromSlash(name)):
			return fmt.Errorf("the name %q is not one of a file within a folder", name)
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		in, err := from.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		n, err := io.Copy(out, io.LimitReader(in, left+1))
		if left -= n; left < 0 {
			err = fmt.Errorf("%s: there are more bytes in the files than may be read", path.Base(name))
		}
		return errors.Join(err, out.Close())
	})
}
