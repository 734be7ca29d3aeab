package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Spec describes an array.
type Spec struct {
	Type       Type
	Shape      []int    // extents; nil for a single number
	Chunks     []int    // extents of a chunk, each at least 1; nil: one chunk for all
	Dimensions []string // names of the dimensions
	Attributes map[string]any

	// Gzip compresses chunks. It is supported for numbers only.
	Gzip bool
}

// Array is an array of numbers or texts in a store. Several goroutines may write different chunks
// at the same time.
type Array struct {
	Spec
	name  string // group/array
	store *Store
}

// dir is the folder of the array.
func (a *Array) dir() string { return filepath.Join(a.store.dir, filepath.FromSlash(a.name)) }

// maxChunk is the largest number of elements in a chunk: 2 GiB of float64s.
const maxChunk = 1 << 28

// check returns an error if the description is invalid or not supported.
func (s *Spec) check() error {
	if s.Type.fill() == nil {
		return fmt.Errorf("elements of type %q are not supported", s.Type)
	}
	if s.Type == String && s.Gzip {
		return errors.New("texts that are compressed")
	}
	if len(s.Chunks) != len(s.Shape) || s.Dimensions != nil && len(s.Dimensions) != len(s.Shape) {
		return fmt.Errorf("%d extents, %d of chunks and %d names of dimensions", len(s.Shape), len(s.Chunks), len(s.Dimensions))
	}
	elements := 1
	for i, n := range s.Shape {
		if n < 0 || s.Chunks[i] < 1 {
			return fmt.Errorf("an extent of %d in chunks of %d", n, s.Chunks[i])
		}
		if elements > maxChunk/s.Chunks[i] {
			return fmt.Errorf("chunks of more than %d elements", maxChunk)
		}
		elements *= s.Chunks[i]
	}
	return nil
}

// chunkNumbers is the number of numbers in a chunk.
func (s *Spec) chunkNumbers() int {
	n := s.Type.numbers()
	for _, c := range s.Chunks {
		n *= c
	}
	return n
}

// path returns the path of a chunk's file.
func (a *Array) path(chunk []int) string {
	var b strings.Builder
	b.WriteByte('c')
	for _, i := range chunk {
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(i))
	}
	return filepath.Join(a.dir(), b.String())
}

// WriteChunk writes a chunk, given by its index along each dimension. values are its numbers in
// row-major order, including those beyond the end of the array, and two for each complex number.
// Integers and booleans are given as float64, where NaN means the fill value.
func (a *Array) WriteChunk(chunk []int, values []float64) error {
	if a.Type == String {
		return fmt.Errorf("zarr: %s has texts", a.name)
	}
	if n := a.chunkNumbers(); len(values) != n || len(chunk) != len(a.Shape) {
		return fmt.Errorf("zarr: %d values for chunk %v of %s, which has %d", len(values), chunk, a.name, n)
	}
	return a.put(chunk, a.Type.encode(make([]byte, 0, len(values)*a.Type.size()), values))
}

// put writes the bytes of a chunk.
func (a *Array) put(chunk []int, b []byte) error {
	if a.Gzip {
		b = compress(b)
	}
	return replace(a.path(chunk), b)
}

// Compressible reports whether gzip makes a chunk of these values smaller by at least a tenth,
// which is worth its time.
func (a *Array) Compressible(values []float64) bool {
	b := a.Type.encode(nil, values)
	return len(compress(b)) <= len(b)/10*9
}

// WriteAll writes an array that has a single chunk.
func (a *Array) WriteAll(values []float64) error {
	if len(values) == 0 {
		return nil
	}
	return a.WriteChunk(make([]int, len(a.Shape)), values)
}

// WriteTexts writes an array of texts that has a single chunk.
func (a *Array) WriteTexts(texts []string) error {
	if n := a.chunkNumbers(); a.Type != String || len(texts) != n || len(texts) == 0 {
		return fmt.Errorf("zarr: %d texts for %s, which has %d elements of type %s", len(texts), a.name, n, a.Type)
	}
	return a.put(make([]int, len(a.Shape)), encodeTexts(texts))
}

// ReadTexts reads an array of texts that has a single chunk.
func (a *Array) ReadTexts() ([]string, error) {
	if a.Type != String {
		return nil, fmt.Errorf("zarr: %s has no texts", a.name)
	}
	path := a.path(make([]int, len(a.Shape)))
	b, err := readFile(path, maxMetadata)
	var texts []string
	if err == nil {
		texts, err = decodeTexts(b, a.chunkNumbers())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the chunk %s: %w", path, err)
	}
	return texts, nil
}

// HasChunk reports whether a chunk was written.
func (a *Array) HasChunk(chunk []int) bool {
	_, err := os.Stat(a.path(chunk))
	return err == nil
}

// ReadChunk reads a chunk, as numbers like those given to WriteChunk. A missing chunk reads as fill
// values: NaN, also for integers, or 0 (false) for booleans.
func (a *Array) ReadChunk(chunk []int) ([]float64, error) {
	if a.Type == String {
		return nil, fmt.Errorf("zarr: %s has texts", a.name)
	}
	n := a.chunkNumbers()
	b, err := readFile(a.path(chunk), 2*int64(n*a.Type.size())+maxHeader)
	if errors.Is(err, fs.ErrNotExist) {
		if a.Type == Bool {
			return make([]float64, n), nil
		}
		return slices.Repeat([]float64{math.NaN()}, n), nil
	}
	if err == nil && a.Gzip {
		b, err = decompress(b, n*a.Type.size())
	}
	if err == nil && len(b) != n*a.Type.size() {
		err = fmt.Errorf("%d bytes instead of %d", len(b), n*a.Type.size())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the chunk %s: %w", a.path(chunk), err)
	}
	return a.Type.decode(make([]float64, 0, n), b), nil
}
