package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Digest returns the SHA-256 of a text in hexadecimal.
func Digest(text string) string {
	h := sha256.New()
	io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil))
}

// The seal is the last member of a JSON object: the SHA-256 of the text before it. Without it,
// damage could go unnoticed, since a changed digit is still valid JSON.
const sealKey = `,"sha256":"`

// Seal adds the seal to a JSON object, which must have members.
func Seal(text []byte) []byte {
	text = bytes.TrimSuffix(bytes.TrimSpace(text), []byte("}"))
	sum := sha256.Sum256(text)
	return append(append(append(bytes.Clone(text), sealKey...), hex.EncodeToString(sum[:])...), "\"}\n"...)
}

// CheckSeal returns an error if the text of a file has changed since it was sealed. path names the
// file in the error.
func CheckSeal(path string, text []byte) error {
	if i := bytes.LastIndex(text, []byte(sealKey)); i >= 0 && bytes.Equal(Seal(append(bytes.Clone(text[:i]), '}')), text) {
		return nil
	}
	return fmt.Errorf("%s is damaged, or was changed: its checksum is wrong", path)
}
