package packed

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/internal/lzma"
)

// Compress returns files by name as one archive: a zip file of uncompressed files, compressed as a
// whole. The same files give the same bytes.
func Compress(files map[string][]byte) ([]byte, error) {
	text, err := store(files)
	if err != nil {
		return nil, err
	}
	return lzma.Compress(text), nil
}

// Open returns the files of an archive.
func Open(archive []byte) (*zip.Reader, error) {
	text, err := lzma.Decompress(archive)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(text), int64(len(text)))
}

// store returns a zip file of uncompressed files, without times, and with names in order.
func store(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
