//go:build !packed

package docs

import (
	"context"
	"os"
	"path/filepath"
)

// Spec returns the specification of the language, in Markdown. A program that is not a released one
// reads it from its sources.
func Spec(ctx context.Context) ([]byte, error) {
	dir, err := sources(ctx)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "spec.md"))
}
