package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// DefaultLimit is the default limit on the length of a text in bytes. Checking takes up to a second
// and a gigabyte of memory per megabyte of source, while typical programs have kilobytes.
const DefaultLimit = 1 << 20

// TooLongError says that a text exceeds the limit.
type TooLongError struct {
	Name  string
	Limit int64 // bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s is longer than %s", e.Name, Bytes(e.Limit))
}

// Bytes formats a number of bytes for people: 512 MiB.
func Bytes(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v := float64(n)
	for len(units) > 1 && v >= 1024 {
		v /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.4g %s", v, units[0])
}

// ReadAll reads a text to its end. It reads only once, since a pipe cannot be read again. A text of
// more than limit bytes (0: [DefaultLimit]) gives a *[TooLongError], and the rest is not read.
func ReadAll(in io.Reader, name string, limit int64) (string, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	var b strings.Builder
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if info.Size() > limit {
				return "", &TooLongError{name, limit}
			}
			b.Grow(int(info.Size()))
		}
	}
	n, err := io.Copy(&b, io.LimitReader(in, limit+1))
	if err != nil {
		return "", err
	}
	if n > limit {
		return "", &TooLongError{name, limit}
	}
	return b.String(), nil
}

// ReadFile is [ReadAll] for the file at path, which may be a pipe or a device. System errors are of
// type *[os.PathError].
func ReadFile(path string, limit int64) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := ReadAll(in, path, limit)
	return text, errors.Join(err, in.Close())
}
