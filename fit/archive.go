package fit

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/draws"
)

// This file writes and reads fits as a single file, and reads fits from any file system. It opens
// no file, so it works in a process that cannot.

// WriteTo writes the fit as one file, for a blob or a column of a database: a zip archive of the
// folder that [Fit.Save] makes. It implements [io.WriterTo]. [ReadArchive] reads the fit.
func (f *Fit) WriteTo(w io.Writer) (int64, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	if w == nil {
		return 0, errors.New("ppl: there is no writer")
	}
	r, exact, err := f.saved()
	if err != nil {
		return 0, err
	}
	exact.packed = true
	counted := &counter{Writer: w}
	z := zip.NewWriter(counted)
	// The entries have no times, so that two archives of a fit are the same.
	create := func(name string) (io.Writer, error) {
		return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	}
	if err := r.Pack(sourceOf(exact.posterior), exact.posterior.Data(), create); err != nil {
		return counted.n, err
	}
	for i := range exact.config.Chains {
		if !exact.worthFile(i) {
			continue
		}
		name := exact.chainPath(r.Name, i)
		out, err := create(name)
		if err != nil {
			return counted.n, err
		}
		w, err := draws.NewWriter(out, exact.finalHeader(i, name))
		if err == nil {
			err = exact.writeChain(w, i)
		}
		if err == nil {
			err = w.Elapsed(exact.elapsed(i))
		}
		if err != nil {
			return counted.n, fmt.Errorf("%s: %w", name, err)
		}
	}
	return counted.n, z.Close()
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
// or the result of [fs.Sub]. It reads nothing outside the file system.
func ReadFS(files fs.FS) (*Fit, error) { return ReadOptions{}.FS(files) }

// FS is [ReadFS] within the limits of o. The total size of the files may be eight times the memory
// limit for draws.
func (o ReadOptions) FS(files fs.FS) (*Fit, error) {
	if files == nil {
		return nil, errors.New("ppl: there is no file system")
	}
	memory := compile.MemoryOr(o.Memory)
	from := &measured{files, 8 * memory}
	record, err := folder.ReadFS(from)
	if err != nil {
		return nil, fmt.Errorf("cannot read a fit: %w", err)
	}
	if len(record.Texts) == 0 || record.DataFile == "" && record.Data != "" {
		return nil, errors.New("cannot read a fit: the files do not have its model and data, but name others")
	}
	r, ok := FormatOf(Format(record.Format))
	if !ok || !r.PerChain {
		return nil, fmt.Errorf("cannot read a fit: its draws are in the format %s, and an archive has them as CSV", record.Format)
	}
	f, err := o.chains(from, record.Base())
	if err != nil {
		return nil, fmt.Errorf("cannot read a fit: %w", err)
	}
	if err := f.describe(record, folder.RecordFile); err != nil {
		return nil, err
	}
	if f.source, err = record.ReadModelFS(from); err != nil {
		return nil, err
	}
	if f.values, err = record.ReadDataFS(from, data.Options{Limit: memory, Memory: memory}); err != nil {
		return nil, err
	}
	f.record, f.read, f.Files = record, o, nil
	return f, nil
}

// chains reads the draws of the run called base.
func (o ReadOptions) chains(from fs.FS, base string) (*Fit, error) {
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		return nil, err
	}
	names := chainNames(entries, base)
	if len(names) == 0 {
		return nil, fmt.Errorf("there are no draws: no file %s_1.csv", base)
	}
	var all []*draws.Contents
	room := o.room()
	for _, name := range names {
		c, err := draws.ReadFS(from, name, room)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return fitOf(names, all)
}

// measured is a file system from which at most left bytes are read.
type measured struct {
	fs.FS
	left int64
}

func (m *measured) Open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if d, ok := f.(fs.ReadDirFile); ok {
		return d, nil
	}
	return &measuredFile{f, m, name}, nil
}

type measuredFile struct {
	fs.File
	of   *measured
	name string
}

func (f *measuredFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if f.of.left -= int64(n); f.of.left < 0 {
		return 0, fmt.Errorf("%s: there are more bytes in the files than may be read", f.name)
	}
	return n, err
}
