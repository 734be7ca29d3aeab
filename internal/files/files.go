// Package files writes and checks the small files of which others are made: each is
// replaced as a whole, and those that are read back long after they were written have a
// checksum. Reading what may never come to its end is left when a context ends.
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Replace writes a file beside its place and renames it, so that there is
// always a whole one.
func Replace(path string, text []byte) error {
	_, err := ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	return err
}

// ReplaceBy is [Replace] with the text that write writes, of which it returns the
// [Digest]. An error of write leaves the file as it was.
func ReplaceBy(path string, write func(io.Writer) error) (digest string, err error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = write(io.MultiWriter(f, h))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		os.Remove(path + ".tmp")
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Save writes what somebody asked for under a name of theirs: like [Replace], but a device or
// a pipe is written to.
func Save(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o666)
	}
	return Replace(path, text)
}

// Digest is the SHA-256 of a text in hexadecimal.
func Digest(text string) string {
	h := sha256.New()
	io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil))
}

// The seal is the last member of an object in JSON: the SHA-256 of the text
// before it. A file may have been damaged, and a digit that is another one is
// still JSON.
const sealKey = `,"sha256":"`

// Seal adds the seal to an object in JSON that has members.
func Seal(text []byte) []byte {
	text = bytes.TrimSuffix(bytes.TrimSpace(text), []byte("}"))
	sum := sha256.Sum256(text)
	return append(append(append(bytes.Clone(text), sealKey...), hex.EncodeToString(sum[:])...), "\"}\n"...)
}

// CheckSeal reports that the text of a file, named by path, is not what was
// sealed.
func CheckSeal(path string, text []byte) error {
	if i := bytes.LastIndex(text, []byte(sealKey)); i >= 0 && bytes.Equal(Seal(append(bytes.Clone(text[:i]), '}')), text) {
		return nil
	}
	return fmt.Errorf("%s is damaged, or was changed: its checksum is wrong", path)
}

// Until does what nothing can end, such as reading a pipe that nobody writes to, and
// returns when ctx ends at the latest; what has been begun then goes on until the program
// ends.
func Until[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("reading was interrupted: %w", context.Cause(ctx))
	}
}
