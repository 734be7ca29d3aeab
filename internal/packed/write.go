package packed

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
	"slices"
)

// File is the path of the zip file in the repository.
const File = "internal/packed/files.zip"

// Write returns the zip file of a repository. The same files give the same bytes.
func Write(repository fs.FS) ([]byte, error) {
	var names []string
	for _, p := range Patterns() {
		some, err := fs.Glob(repository, p)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, name := range names {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return nil, err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
