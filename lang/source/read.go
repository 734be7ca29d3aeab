package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// DefaultLimit is the length in bytes of the longest text that is read where no
// other limit is given. Checking takes up to a second and a gigabyte of memory per
// megabyte of source; people write programs of kilobytes.
const DefaultLimit = 1 << 20

// TooLongError says that a text is longer than the limit.
type TooLongError struct {
	Name  string
	Limit int64 // bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s is longer than %s", e.Name, Bytes(e.Limit))
}

// Bytes writes a number of bytes for people: 512 MiB.
func Bytes(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v := float64(n)
	for len(units) > 1 && v >= 1024 {
		v /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.4g %s", v, units[0])
}

// ReadAll reads a text to its end, once: from a pipe nothing can be read again.
// A text of more than limit bytes (0: [DefaultLimit]) is a *[TooLongError]; no
// more than that is read of it.
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

// ReadFile is [ReadAll] of the file at path, which may be a pipe or a device. An
// error of the system is a *[os.PathError].
func ReadFile(path string, limit int64) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := ReadAll(in, path, limit)
	return text, errors.Join(err, in.Close())
}
